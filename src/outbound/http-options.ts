// HTTP client options for every outbound connection, pooled or not.

/**
 * A pooled socket must be closed before the server closes it. Node closes idle ones after 5 s, most load balancers after 60 s, and a server's `Keep-Alive:
 * timeout` shortens ours further. undici also reads what is buffered on an idle socket before it writes, so that it sees a close that was already received.
 */
const IDLE_SOCKET_MS = 4_000;

export const HTTP_OPTIONS = {
  // A provider may take ten minutes to answer. Each exchange has its own deadline.
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: IDLE_SOCKET_MS,
  keepAliveMaxTimeout: IDLE_SOCKET_MS,
  // Whether a byte was sent is known per socket. HTTP/2 would blur that, and one broken socket would fail many calls.
  allowH2: false,
  pipelining: 1,
} as const;
