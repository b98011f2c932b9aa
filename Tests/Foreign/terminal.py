"""Runs a program in a pseudo-terminal, and reads the screen that it draws.

Knows the sequences of a VT100 that full-screen programs use; any other one is an error.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

SEQUENCE = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])")


class Terminal:
    def __init__(self, command, rows=24, columns=100, environment=None):
        self.rows, self.columns = rows, columns
        self.cells, self.styles, self.style = [[" "] * columns for _ in range(rows)], {}, ""
        self.row = self.column = self.bytes = 0
        self.modes, self.rest, self.status = set(), "", None
        self.modes.add("?25")
        self.main, terminal = pty.openpty()
        self.terminal = terminal  # kept open, so that its attributes can be read at the end
        self.resize(rows, columns)
        self.before = termios.tcgetattr(terminal)
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
            for number in range(3):
                os.dup2(terminal, number)
            os.closerange(3, 256)
            os.execve(command[0], command, {"TERM": "xterm", **(environment or {})})

    def resize(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.cells = [[" "] * columns for _ in range(rows)]
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.main, text.encode())

    def kill(self, number):
        os.kill(self.pid, number)

    def read(self, seconds):
        """Draws what comes within a time. Returns the number of bytes."""
        before, end = self.bytes, time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.main], [], [], left)[0]:
                data = os.read(self.main, 65536)
                self.bytes += len(data)
                self.draw(data.decode(errors="replace"))
        return self.bytes - before

    def wait(self, condition, what, seconds=20):
        end = time.monotonic() + seconds
        while not condition(self):
            if time.monotonic() > end:
                raise AssertionError(f"not in time: {what}\n{self.text()}")
            self.read(0.05)

    def wait_for(self, text, seconds=20):
        self.wait(lambda it: text in it.text(), f"{text!r} on the screen", seconds)

    def finish(self, seconds=10):
        """Waits for the end of the program, and checks that the terminal is as it was."""
        end = time.monotonic() + seconds
        while self.status is None:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                raise AssertionError("the program did not end")
        self.read(0.1)
        assert termios.tcgetattr(self.terminal) == self.before, "the modes of the terminal differ"
        assert "?1049" not in self.modes, "the alternate screen is still there"
        assert "?25" in self.modes, "the cursor is hidden"
        return self.status

    def text(self):
        return "\n".join("".join(row).rstrip() for row in self.cells)

    def draw(self, text):
        text, self.rest = self.rest + text, ""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                found = SEQUENCE.match(text, at)
                if not found:
                    assert len(text) - at < 20, f"unknown sequence {text[at:at + 10]!r}"
                    self.rest = text[at:]
                    return
                self.control(found[1], found[2])
                at = found.end()
                continue
            self.put(text[at])
            at += 1

    def put(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.row = min(self.row + 1, self.rows - 1)
        elif self.column < self.columns:
            self.cells[self.row][self.column] = character
            self.styles[self.row, self.column] = self.style
            self.column += 1

    def control(self, parameters, kind):
        numbers = [int(n) if n.isdigit() else 0 for n in parameters.split(";")]
        if kind == "H":
            self.row = min((numbers[0] or 1), self.rows) - 1
            self.column = (numbers[1] if len(numbers) > 1 else 1) - 1
        elif kind == "J":
            last = self.row if parameters != "2" else 0
            self.cells[last:] = [[" "] * self.columns for _ in self.cells[last:]]
        elif kind == "K":
            row = self.cells[self.row]
            row[self.column:] = [" "] * (self.columns - self.column)
        elif kind in "hl":
            (self.modes.add if kind == "h" else self.modes.discard)(parameters)
        else:
            assert kind == "m", f"unknown sequence {parameters}{kind}"
            self.style = "" if parameters == "0" else parameters
