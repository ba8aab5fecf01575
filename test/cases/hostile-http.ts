// The edge: framing that two parties read differently, headers twice, paths with a second spelling, keys in the wrong place.
import { KEY } from "../harness/gateway.ts";
import { ADMIN_KEY, OPERATOR_KEY } from "../hostile/setup.ts";
import type { HostileRequest } from "./hostile.ts";

const APP = `Authorization: Bearer ${KEY}\r\n`;
export const ADMIN = `Authorization: Bearer ${ADMIN_KEY}\r\n`;
export const OPERATOR = `Authorization: Bearer ${OPERATOR_KEY}\r\n`;
const CLOSE = "Host: x\r\nConnection: close\r\n";
const JSON_TYPE = "Content-Type: application/json\r\n";
const CHUNKED = "Transfer-Encoding: chunked\r\n";
const UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
const SOCKET = `${UPGRADE}Sec-WebSocket-Version: 13\r\n`;
const NONCE = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
const REALTIME = "/v1/transcription/realtime";

export const get = (path: string, headers = APP, method = "GET", version = "1.1"): string =>
  `${method} ${path} HTTP/${version}\r\n${CLOSE}${headers}\r\n`;
/** The admin listener answers to addresses and to names that it knows. */
const toAdmin = (request: string): string => request.replace("Host: x\r\n", "Host: localhost\r\n");
const chat = (headers: string, body: string): string =>
  `POST /v1/chat HTTP/1.1\r\n${CLOSE}${APP}${JSON_TYPE}${headers}\r\n${body}`;
const me = (headers: string): string => get("/v1/me", APP + headers);
const bearer = (token: string): string => get("/v1/me", `Authorization: Bearer ${token}\r\n`);
const malformed = (id: string, input: string, ...requests: readonly (string | Buffer)[]): HostileRequest => ({
  id,
  input,
  requests,
  status: 400,
  code: "INVALID_REQUEST",
});
const refused = (
  id: string,
  input: string,
  status: number,
  code: string,
  ...requests: readonly string[]
): HostileRequest => ({ id, input, requests, status, code });
const served = (id: string, input: string, ...requests: readonly string[]): HostileRequest => ({
  id,
  input,
  requests,
  status: 200,
  code: null,
});

export const hostileHttp: readonly HostileRequest[] = [
  malformed("HOS-001", "the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  malformed(
    "HOS-002",
    "a TLS greeting on the plain port",
    Buffer.from([22, 3, 1, 0, 165, 1, 0, 0, 161, 3, 3, ...Array.from({ length: 99 }, () => 7)]),
  ),
  served(
    "HOS-003",
    "an upgrade to h2c is not taken up",
    me("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"),
  ),
  malformed("HOS-004", "an upgrade to a WebSocket where there is none", chat(`${SOCKET}${NONCE}Content-Length: 2\r\n`, "{}")),
  malformed(
    "HOS-005",
    "a header folded over two lines, the key among them",
    me("X-A: b\r\n c\r\n"),
    `GET /v1/me HTTP/1.1\r\n${CLOSE}Authorization: Bearer\r\n ${KEY}\r\n\r\n`,
  ),
  malformed(
    "HOS-006",
    "a blank before a header's colon",
    chat("Content-Length : 2\r\n", "{}"),
    chat("Transfer-Encoding : chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"),
  ),
  malformed(
    "HOS-007",
    "transfer encodings that only resemble chunked",
    ...["\x0bchunked", "xchunked", "chunked, identity", "chunked, chunked", "identity", '"chunked"', "cow"].map((coding) =>
      chat(`Transfer-Encoding: ${coding}\r\n`, "0\r\n\r\n"),
    ),
    chat(CHUNKED + CHUNKED, "0\r\n\r\n"),
  ),
  malformed(
    "HOS-008",
    "lengths that are no plain number, or two",
    ...["+2", "-1", "0x2", "2, 2", "2 2", "", "18446744073709551618", "2\r\nContent-Length: 2"].map((length) =>
      chat(`Content-Length: ${length}\r\n`, "{}"),
    ),
  ),
  malformed(
    "HOS-009",
    "chunk sizes that are no plain number, or too large for one",
    ...["FFFFFFFFFFFFFFFFFF", "0x2", "-1", "+2", "2 ", " 2", ""].map((size) => chat(CHUNKED, `${size}\r\n{}\r\n0\r\n\r\n`)),
  ),
  malformed(
    "HOS-010",
    "a chunk that continues behind its size, 20 kB of chunk extension",
    chat(CHUNKED, "2\r\n{}X0\r\n\r\n"),
    chat(CHUNKED, `2;${"a".repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
  ),
  refused(
    "HOS-011",
    "a key that comes in the trailer",
    401,
    "UNAUTHENTICATED",
    `POST /v1/chat HTTP/1.1\r\n${CLOSE}${JSON_TYPE}${CHUNKED}Trailer: Authorization\r\n\r\n2\r\n{}\r\n0\r\n${APP}\r\n`,
  ),
  refused(
    "HOS-012",
    "40 kB of trailer",
    431,
    "HEADERS_TOO_LARGE",
    chat(CHUNKED, `2\r\n{}\r\n0\r\nX-A: ${"a".repeat(40_000)}\r\n\r\n`),
  ),
  malformed(
    "HOS-013",
    "line ends that some parsers take: bare LF, bare CR inside a value, NUL inside a value",
    get("/v1/me").replaceAll("\r\n", "\n"),
    me("X-A: b\rX-SVC-Purpose: y\r\n"),
    me("X-A: a\0b\r\n"),
  ),
  malformed(
    "HOS-014",
    "versions of HTTP that are none",
    ...["1.2", "2.0", "3.0", "9.9", "01.1", "1.1.1", "x"].map((version) => get("/v1/me", APP, "GET", version)),
    "GET /v1/me\r\n\r\n",
  ),
  malformed(
    "HOS-015",
    "a Host that is no host: user name, path, blank, comma, two ports",
    ...["a@b", "gateway.example:80@evil.example", "x/y", "a b", "x:80:80", "x\\y", "http://x", "[::1", "x?y"].map((host) =>
      get("/v1/me").replace("Host: x", `Host: ${host}`),
    ),
  ),
  served("HOS-016", "a Host as an address, with a port, empty", ...["[::1]:8080", "127.0.0.1", "x:", ""].map((host) =>
      get("/v1/me").replace("Host: x", `Host: ${host}`),
    )),
  refused(
    "HOS-017",
    "headers that name another path or method for a proxy's sake change neither",
    404,
    "JOB_NOT_FOUND",
    ...["X-HTTP-Method-Override: DELETE", "X-HTTP-Method: PUT", "X-Original-URL: /v1/me", "X-Rewrite-URL: /v1/me"].map((line) =>
      get("/v1/transcription/jobs/job_x", `${APP}${line}\r\n`),
    ),
  ),
  refused(
    "HOS-018",
    "a forwarded host does not get into the links of an answer",
    404,
    "NOT_FOUND",
    me("").replace("/v1/me", "/v1/none").replace("\r\n\r\n", "\r\nX-Forwarded-Host: evil.example\r\nForwarded: host=evil.example\r\n\r\n"),
  ),
  malformed("HOS-019", "a method in the query", get("/v1/transcription/jobs?_method=DELETE")),
  refused(
    "HOS-020",
    "paths with a second spelling",
    404,
    "NOT_FOUND",
    ...["/v1/%2e%2e/admin/v1/keys", "/v1/me#x", "/v1/me;x=1", "/v1/me/.", "/./v1/me", "/v1/me%20", "/v1/me%3fx", "/v1/m%C3%A9", "/%2fv1/me"].map(
      (path) => get(path),
    ),
    ...["/workspace/..;/requests", "/workspace/%2e/requests", "/workspace//requests"].map((path) => get(path, ADMIN)),
  ),
  malformed("HOS-021", "a path with raw bytes, a tab", get("/v1/m\xc3\xa9"), get("/v1/me\tx"), get("/v1/\x7f")),
  refused(
    "HOS-022",
    "the administration's paths on the public listener, with the operator's key",
    404,
    "NOT_FOUND",
    ...["/admin/v1/workspaces", "/admin/v1/audit", "/metrics"].map((path) => get(path, OPERATOR)),
  ),
  {
    id: "HOS-023",
    input: "the public paths on the administration's listener",
    listener: "admin",
    requests: [get("/v1/me", OPERATOR), get("/v1/usage"), get("/v1/chat", APP, "POST")].map(toAdmin),
    status: 404,
    code: "NOT_FOUND",
  },
  {
    id: "HOS-024",
    input: "keys of apps and workspaces on the administration's listener",
    listener: "admin",
    requests: [APP, ADMIN].flatMap((key) =>
      ["/admin/v1/workspaces", "/admin/v1/usage"].map((path) => toAdmin(get(path, key))),
    ),
    status: 403,
    code: "FORBIDDEN",
  },
  refused(
    "HOS-025",
    "keys of administrators and of the operator where an app's is wanted",
    403,
    "FORBIDDEN",
    ...[ADMIN, OPERATOR].flatMap((key) => [
      get("/v1/chat", key, "POST"),
      get("/v1/transcription", key, "POST"),
      get("/v1/transcription/jobs", key),
    ]),
  ),
  refused("HOS-026", "an app's key on its own workspace", 403, "FORBIDDEN", get("/workspace/acme/keys")),
  refused(
    "HOS-027",
    "an app's and an administrator's key on another workspace",
    404,
    "NOT_FOUND",
    get("/workspace/other/keys"),
    get("/workspace/other/keys", ADMIN),
    get("/workspace/constructor/keys", ADMIN),
    get("/workspace/acme'or'1'='1/keys", ADMIN),
  ),
  refused(
    "HOS-028",
    "keys in another dress: a prefix before them, cut, longer, upper case, two at once, by tab, as Basic, as a cookie",
    401,
    "UNAUTHENTICATED",
    ...[`svc_test_${KEY}`, KEY.slice(0, -1), `${KEY}%00`, `${KEY}=`, KEY.toUpperCase(), `${KEY}, Bearer x`].map(bearer),
    get("/v1/me", `Authorization: Bearer\t${KEY}\r\n`),
    get("/v1/me", `Authorization: Basic ${Buffer.from(`:${KEY}`).toString("base64")}\r\n`),
    get("/v1/me", `X-Api-Key: ${KEY}\r\napi-key: ${KEY}\r\nCookie: token=${KEY}\r\n`),
    get(`/v1/me?authorization=Bearer%20${KEY}`, ""),
  ),
  refused(
    "HOS-029",
    "an unsigned JWT, a JWT that names its own key, a result's token, as a key",
    401,
    "UNAUTHENTICATED",
    ...[
      { alg: "none" },
      { alg: "HS256", jku: "https://media.example/keys" },
    ].map((head) => bearer(`${Buffer.from(JSON.stringify(head)).toString("base64url")}.eyJzdWIiOiJyb290In0.`)),
    bearer("A".repeat(96)),
  ),
  malformed("HOS-030", "two keys, the second good", get("/v1/me", `Authorization: Bearer x\r\n${APP}`)),
  refused("HOS-031", "100-continue twice, or with more behind it", 417, "EXPECTATION_FAILED",
    ...["100-continue, 100-continue", "100-continue; x=1", "200-ok"].map((expectation) =>
      chat(`Expect: ${expectation}\r\nContent-Length: 2\r\n`, "{}"),
    )),
  served("HOS-032", "4,000 commas in Accept", get("/v1/usage", `${APP}Accept: ${",".repeat(4_000)}text/csv\r\n`)),
  refused(
    "HOS-033",
    "weights in Accept that are no number",
    406,
    "NOT_ACCEPTABLE",
    ...["NaN", "1e1", "-1", "0x1", "1.0000", ""].map((weight) => get("/v1/usage", `${APP}Accept: text/csv;q=${weight}\r\n`)),
  ),
  served("HOS-034", "a body with a request that has none is not read", me(`${JSON_TYPE}Content-Length: 18\r\n`) + '{"model":"gpt-9"}\n'),
  refused("HOS-035", "the media type twice", 400, "INVALID_REQUEST", chat("Content-Type: text/plain\r\nContent-Length: 2\r\n", "{}")),
  refused(
    "HOS-036",
    "WebSocket: no key, the key in the address, the key itself as a subprotocol",
    401,
    "UNAUTHENTICATED",
    get(REALTIME, SOCKET + NONCE),
    get(`${REALTIME}?token=${KEY}`, SOCKET + NONCE),
    get(REALTIME, `${SOCKET}${NONCE}Sec-WebSocket-Protocol: ${KEY}\r\n`),
    get(REALTIME, `${SOCKET}${NONCE}Sec-WebSocket-Protocol: patchbay.v1, ${"A".repeat(32)}\r\n`),
  ),
  malformed(
    "HOS-037",
    "WebSocket: another version, no nonce, two, a short one, no upgrade, a list of protocols to upgrade to",
    ...[
      `${UPGRADE}Sec-WebSocket-Version: 8\r\n${NONCE}`,
      SOCKET,
      SOCKET + NONCE + NONCE,
      `${SOCKET}Sec-WebSocket-Key: AAAA\r\n`,
      `Sec-WebSocket-Version: 13\r\n${NONCE}`,
      SOCKET.replace("websocket", "websocket, h2c") + NONCE,
    ].map((headers) => get(REALTIME, APP + headers)),
  ),
  refused("HOS-038", "WebSocket by POST", 405, "METHOD_NOT_ALLOWED", get(REALTIME, APP + SOCKET + NONCE, "POST")),
  malformed(
    "HOS-039",
    "idempotency keys with blanks around, quotes' curly kin, a soft hyphen, NEL",
    ...["\u00a0k", "\u201ck\u201d", "k\u00ad", "k\u0085"].map((key) =>
      get("/v1/transcription/realtime-token", `${APP}Idempotency-Key: ${Buffer.from(key).toString("latin1")}\r\nContent-Length: 0\r\n`, "POST"),
    ),
  ),
  malformed(
    "HOS-040",
    "a purpose in a header with line ends in UTF-7's and latin-1's clothes",
    ...["a\x85b", "a\xa0", "\xff"].map((purpose) => me(`X-SVC-Purpose: ${purpose}\r\n`)),
  ),
];
