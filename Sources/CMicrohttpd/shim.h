#pragma once
#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>

// MHD_start_daemon and MHD_get_daemon_info are variadic, and Swift does not import variadic
// functions. Each connection has a thread, so that a handler may block. Only this machine can
// connect. Limits: 64 connections, 60 s without activity, 64 KiB for the head of a request.
static inline struct MHD_Daemon *cascade_http_start(
    unsigned short port, MHD_AccessHandlerCallback handle, MHD_RequestCompletedCallback completed,
    void *context) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  return MHD_start_daemon(
      MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, port, NULL,
      NULL, handle, context, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
      MHD_OPTION_NOTIFY_COMPLETED, completed, context, MHD_OPTION_CONNECTION_LIMIT, 64u,
      MHD_OPTION_CONNECTION_TIMEOUT, 60u, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)64 << 10,
      MHD_OPTION_END);
}

static inline unsigned short cascade_http_port(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info ? info->port : 0;
}

// Macros with casts, which Swift does not import, and constants that it gives other names.
static const enum MHD_Result cascade_http_yes = MHD_YES, cascade_http_no = MHD_NO;
static const enum MHD_ValueKind cascade_http_headers = MHD_HEADER_KIND,
                                cascade_http_query = MHD_GET_ARGUMENT_KIND;
static inline struct MHD_Response *cascade_http_copy(size_t size, void *bytes) {
  return MHD_create_response_from_buffer(size, bytes, MHD_RESPMEM_MUST_COPY);
}
static const ssize_t cascade_http_end = MHD_CONTENT_READER_END_OF_STREAM;
static const uint64_t cascade_http_unknown_size = MHD_SIZE_UNKNOWN;
