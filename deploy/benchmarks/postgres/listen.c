// Waits for a notification, and sends a statement: the least that a daemon has to do.
#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

static PGconn *db;

static void run(const char *statement) {
  PGresult *result = PQexec(db, statement);
  ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    fprintf(stderr, "listen: %s", PQerrorMessage(db));
    exit(1);
  }
  PQclear(result);
}

int main(int count, char **arguments) {
  if (count != 4) {
    fprintf(stderr, "usage: listen CONNECTION CHANNEL STATEMENT\n");
    return 64;
  }
  db = PQconnectdb(arguments[1]);
  run("SET jit = off");
  char listen[100];
  snprintf(listen, sizeof listen, "LISTEN %s", arguments[2]);
  run(listen);
  for (;;) {
    struct pollfd socket = {PQsocket(db), POLLIN, 0};
    poll(&socket, 1, -1);
    if (!PQconsumeInput(db)) return 1;
    PGnotify *notice;
    while ((notice = PQnotifies(db))) {
      PQfreemem(notice);
      run(arguments[3]);
    }
  }
}
