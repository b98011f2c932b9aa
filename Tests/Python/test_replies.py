"""The types of replies are those of the protocol."""
import re
import unittest

from support import ROOT, cascade

TEXT = re.sub(r"#.*", "", (ROOT / "Sources/Daemon/io.cascaded.Control.varlink").read_text())
NAMES = {"Receipt": "TransactionReceipt"}


def described(name):
    """The members of a type, or of what a method returns."""
    head = {"ReceiptState": r"method Receipt\b.*?-> ", "RejectedPlan": r"method Reject\b.*?-> "}.get(
        name, rf"type {NAMES.get(name, name)} ")
    members = re.search(rf"^{head}\((.*?)\)$", TEXT, re.MULTILINE | re.DOTALL)[1]
    return set(re.findall(r"(\w+):", members))


class ReplyTests(unittest.TestCase):
    def test_the_types_have_the_members_that_the_protocol_describes(self):
        types = {name: kind for name, kind in vars(cascade.replies).items() if type(kind) is type(cascade.replies.Job)}
        self.assertGreater(len(types), 10)
        for name, kind in types.items():
            self.assertEqual(set(kind.__annotations__), described(name), name)


if __name__ == "__main__":
    unittest.main()
