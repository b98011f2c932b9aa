#pragma once
#include <arpa/inet.h>
#include <dlfcn.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdbool.h>

// libmicrohttpd is loaded when a server starts, and not linked: it brings GnuTLS and its libraries
// along, and every other command would load them, too. The version is that of the ABI that the
// header describes.
#define CASCADE_HTTP_LIBRARY "libmicrohttpd.so.12"

#define CASCADE_HTTP_FUNCTIONS(each)                                                  \
  each(start_daemon) each(get_daemon_info) each(get_connection_values)                \
  each(create_response_from_buffer) each(create_response_from_callback)               \
  each(add_response_header) each(queue_response) each(destroy_response)

struct cascade_http_functions {
#define CASCADE_HTTP_POINTER(name) __typeof__(MHD_##name) *name;
  CASCADE_HTTP_FUNCTIONS(CASCADE_HTTP_POINTER)
};

static inline struct cascade_http_functions *cascade_http(void) {
  static struct cascade_http_functions functions;
  return &functions;
}

// Has to be called, and to return true, before everything below.
static inline bool cascade_http_load(void) {
  void *library = dlopen(CASCADE_HTTP_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
#define CASCADE_HTTP_FIND(name)                                                          \
  cascade_http()->name = (__typeof__(MHD_##name) *)dlsym(library, "MHD_" #name);         \
  if (!cascade_http()->name) return false;
  CASCADE_HTTP_FUNCTIONS(CASCADE_HTTP_FIND)
  return true;
}

// Each connection has a thread, so that a handler may block. Only this machine can connect. Limits:
// 64 connections, 60 s without activity, 64 KiB for the head of a request.
static inline struct MHD_Daemon *cascade_http_start(
    unsigned short port, MHD_AccessHandlerCallback handle, MHD_RequestCompletedCallback completed,
    void *context) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  return cascade_http()->start_daemon(
      MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, port, NULL,
      NULL, handle, context, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
      MHD_OPTION_NOTIFY_COMPLETED, completed, context, MHD_OPTION_CONNECTION_LIMIT, 64u,
      MHD_OPTION_CONNECTION_TIMEOUT, 60u, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)64 << 10,
      MHD_OPTION_END);
}

static inline unsigned short cascade_http_port(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info =
      cascade_http()->get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info ? info->port : 0;
}

static inline void cascade_http_values(
    struct MHD_Connection *connection, enum MHD_ValueKind kind, MHD_KeyValueIterator each,
    void *context) {
  cascade_http()->get_connection_values(connection, kind, each, context);
}

static inline struct MHD_Response *cascade_http_copy(size_t size, void *bytes) {
  return cascade_http()->create_response_from_buffer(size, bytes, MHD_RESPMEM_MUST_COPY);
}

static inline struct MHD_Response *cascade_http_stream(
    size_t block, MHD_ContentReaderCallback read, void *context,
    MHD_ContentReaderFreeCallback release) {
  return cascade_http()->create_response_from_callback(
      MHD_SIZE_UNKNOWN, block, read, context, release);
}

static inline void cascade_http_header(
    struct MHD_Response *response, const char *name, const char *value) {
  cascade_http()->add_response_header(response, name, value);
}

// The response lives until it is sent.
static inline enum MHD_Result cascade_http_send(
    struct MHD_Connection *connection, unsigned status, struct MHD_Response *response) {
  enum MHD_Result result = cascade_http()->queue_response(connection, status, response);
  cascade_http()->destroy_response(response);
  return result;
}

// Macros with casts, which Swift does not import, and constants that it gives other names.
static const enum MHD_Result cascade_http_yes = MHD_YES, cascade_http_no = MHD_NO;
static const enum MHD_ValueKind cascade_http_headers = MHD_HEADER_KIND,
                                cascade_http_query = MHD_GET_ARGUMENT_KIND;
static const ssize_t cascade_http_end = MHD_CONTENT_READER_END_OF_STREAM;
