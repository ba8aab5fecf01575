// What administrators and their tools send: queries, cursors, preconditions, times, names, credentials. All of it is a tenant's own
// text on its way into a database, a header or a spreadsheet.
import { ADMIN, get, OPERATOR } from "./hostile-http.ts";
import type { HostileRequest } from "./hostile.ts";

const cursor = (list: string, position: unknown): string =>
  Buffer.from(JSON.stringify([list, position])).toString("base64url");
const send = (method: string, path: string, body: unknown, headers = ADMIN): Buffer => {
  const text = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}Content-Type: application/json\r\n`;
  return Buffer.concat([Buffer.from(`${head}Content-Length: ${text.length}\r\n\r\n`, "latin1"), text]);
};
const own = (query: string): string => get(`/workspace/acme/${query}`, ADMIN);
const connection = (fields: object): Buffer =>
  send("POST", "/workspace/acme/connections", {
    id: "mine",
    kind: "openai-compatible",
    base_url: "https://media.example/v1",
    api_key: "k",
    ...fields,
  });

const invalid = (id: string, input: string, ...requests: readonly (Buffer | string)[]): HostileRequest => ({
  id,
  input,
  requests,
  status: 400,
  code: "INVALID_REQUEST",
});
const notFound = (id: string, input: string, ...requests: readonly string[]): HostileRequest => ({
  id,
  input,
  requests,
  status: 404,
  code: "NOT_FOUND",
});

export const hostileAdministration: readonly HostileRequest[] = [
  invalid(
    "HOS-201",
    "a NUL in each query that reaches the database",
    ...["requests?app=%00", "jobs?app=%00", "requests?key=a%00", "requests?code=%00", "usage?app=%00", "usage?key=%00"].map(own),
    ...["audit?action=%00", "audit?target=%00", "stt-webhook/deliveries?cursor=%00", "stt-webhook/stream?after=%00"].map(own),
    get("/v1/transcription/jobs?status=queued%00"),
  ),
  {
    ...invalid("HOS-202", "the same as the operator", ...["requests?workspace=%00", "usage?workspace=a%00", "audit?actor=%00"].map((query) => get(`/admin/v1/${query}`, OPERATOR))),
    listener: "admin",
  },
  invalid(
    "HOS-203",
    "forged cursors: a NUL, another list's, a number, 290 open brackets, no base64",
    ...["requests", "keys", "apps", "routes", "connections", "audit", "jobs"].map((list) => own(`${list}?cursor=${cursor(list, "\0")}`)),
    own(`provider-deletions?cursor=${cursor("provider_deletions", "\0")}`),
    own(`apps?cursor=${cursor("keys", "key_x")}`),
    own(`apps?cursor=${cursor("apps", 5)}`),
    own(`apps?cursor=${Buffer.from("[".repeat(290)).toString("base64url")}`),
    own(`apps?cursor=${Buffer.from('["apps","\\ud800"]').toString("base64url")}`),
    own("apps?cursor=!!!"),
    get(`/v1/transcription/jobs?cursor=${cursor("jobs", "\0")}`),
  ),
  {
    ...invalid("HOS-204", "the same of the operator's lists", ...["plans", "workspaces", "jobs", "deliveries"].map((list) => get(`/admin/v1/${list}?cursor=${cursor(list, "\0")}`, OPERATOR))),
    listener: "admin",
  },
  invalid(
    "HOS-205",
    "days that no calendar has, or no database",
    ...["2026-02-30", "2100-02-29", "2026-13-01", "2026-00-10", "2026-1-1", "0000-01-01", "9999-12-31", "+275760-09-13", "2026-01-01T00:00:00Z"].map((day) =>
      get(`/v1/usage?from=${encodeURIComponent(day)}&to=${encodeURIComponent(day)}`),
    ),
  ),
  invalid(
    "HOS-206",
    "times that no clock shows, or no database",
    ...[
      "2016-12-31T23:59:60Z",
      "2016-12-31T24:00:00Z",
      "2016-12-31T23:00:00+99:99",
      "2016-12-31T23:00:00",
      "2016-12-31 23:00:00Z",
      "0000-01-01T00:00:00Z",
      "0001-01-01T00:00:00+23:59",
      "9999-12-31T23:59:59-23:59",
      "1766000000",
    ].flatMap((time) => ["requests?from", "requests?to", "requests?recorded_from", "audit?from"].map((field) => own(`${field}=${encodeURIComponent(time)}`))),
  ),
  invalid(
    "HOS-207",
    "one parameter twice, an unknown one, one named like a property of every object",
    ...["from=2026-01-01&from=2026-01-02", "group_by=day&group_by=app", "__proto__[x]=1", "constructor=1", "group_by=__proto__", "group_by=constructor"].map((query) =>
      get(`/v1/usage?${query}`),
    ),
  ),
  invalid(
    "HOS-208",
    "limits that other languages take for numbers",
    ...["1e1", "0x10", "%205", "5%20", "+5", "-1", "0", "101", "1&limit=2", "%D9%A1", "", "1.0"].map((limit) =>
      get(`/v1/transcription/jobs?limit=${limit}`),
    ),
  ),
  invalid(
    "HOS-209",
    "preconditions that are none",
    ...['junk"', "*,*", '"a', "W/", '"a" "b"', '"\u00e9"'].map((tag) =>
      send("PUT", "/workspace/acme/apps/none", { name: "x" }, `${ADMIN}If-Match: ${tag}\r\n`),
    ),
  ),
  invalid(
    "HOS-210",
    "a NUL in the texts of an app, a key, a purpose, a route, a webhook, a list of hosts",
    send("POST", "/workspace/acme/apps", { slug: "mine", route: "both", name: "a\0" }),
    send("POST", "/workspace/acme/apps", { slug: "mine", route: "both", purposes: [{ purpose: "p", route: "both", description: "\0" }] }),
    send("POST", "/workspace/acme/keys", { app: "notes\0" }),
    send("POST", "/workspace/acme/keys", { app: "notes", name: "\0" }),
    send("POST", "/workspace/acme/routes", {
      id: "mine",
      targets: [{ connection: "dg", model: "nova-3" }],
      purposes: [{ purpose: "p", route: "mine", description: "\0" }],
    }),
    send("PUT", "/workspace/acme/stt-webhook", { url: "https://media.example/\0" }),
    send("PUT", "/workspace/acme/audio-url-domains", { domains: ["a\0.example.com"] }),
  ),
  invalid(
    "HOS-211",
    "a key that ends in the year 0, in the year 10000 of another zone, on 30 February",
    ...["0000-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59", "2027-02-30T00:00:00Z"].map((expires_at) =>
      send("POST", "/workspace/acme/keys", { app: "notes", expires_at }),
    ),
  ),
  invalid(
    "HOS-212",
    "credentials that no header can carry: a line end, a NUL, a letter beyond ASCII",
    ...["k\r\nX-Evil: 1", "k\0", "k\u00e9", "k\u{1f44b}", "k\n"].map((api_key) => connection({ api_key })),
  ),
  invalid(
    "HOS-213",
    "names of models: a NUL, a line end, a direction mark, 201 characters, empty",
    ...["a\0", "a\nb", "a\u202e", "a".repeat(201), ""].map((name) => connection({ models: { [name]: { capabilities: ["chat"] } } })),
  ),
  invalid(
    "HOS-214",
    "addresses of accounts: of this machine, of a cloud's metadata, with a user name, a query, a fragment, without TLS",
    ...[
      "https://127.0.0.1/v1",
      "https://[::1]/v1",
      "https://metadata.google.internal/v1",
      "https://a:b@media.example/v1",
      "https://media.example/v1?x=",
      "https://media.example/v1#x",
      "http://media.example/v1",
      "ftp://media.example/v1",
      "https://169.254.169.254",
    ].map((base_url) => connection({ base_url })),
  ),
  invalid(
    "HOS-215",
    "webhooks: a secret of the caller's choice, this gateway itself, an escaped line end, a user name, a fragment",
    send("PUT", "/workspace/acme/stt-webhook", { url: "https://media.example/h", secret: "whsec_x" }),
    ...[
      "https://gateway.example/v1/chat",
      "https://media.example/%0d%0aX: y",
      "https://root@media.example/",
      "https://media.example\\@evil.example/",
      "https://media.example:99999/",
      "https://media\u3002example/",
    ].map((url) => send("PUT", "/workspace/acme/stt-webhook", { url })),
  ),
  invalid(
    "HOS-216",
    "hosts on the list: another script's letters, a label that encodes nothing, 300 characters, a whole suffix, an address in figures",
    ...["medi\u0430.example.com", "xn--a-ecp.ru", `${"a".repeat(300)}.com`, "*.co.uk", "*.github.io", "0x7f.1", "*.*.example.com", "a.*"].map((domain) =>
      send("PUT", "/workspace/acme/audio-url-domains", { domains: [domain] }),
    ),
  ),
  invalid(
    "HOS-217",
    "money and figures: exponents, hexadecimal, signs, ten places, infinity",
    ...["1e9", "0x10", "-1", "+1", "1.0000000001", "Infinity", "NaN", "1,5", ""].map((limit_usd) =>
      send("PUT", "/workspace/acme/apps/notes/budgets/day", { limit_usd }, `${ADMIN}If-Match: *\r\n`),
    ),
    send("PUT", "/workspace/acme/apps/notes/budgets/day", '{"limit_tokens":1e400}', `${ADMIN}If-Match: *\r\n`),
  ),
  notFound(
    "HOS-218",
    "ids of deliveries, requests and workspaces that are SQL, wildcards, properties",
    get("/v1/requests/req_'--"),
    get("/v1/requests/__proto__"),
    get("/v1/requests/%25"),
    get("/workspace/*/requests", ADMIN),
    get("/workspace/hasOwnProperty/requests", ADMIN),
    get("/workspace/acme/requests/req_'or'1", ADMIN),
    get("/workspace/acme/stt-webhook/deliveries/dlv_'/redeliver", ADMIN, "POST"),
  ),
  notFound(
    "HOS-219",
    "results: no token, one of 600 characters, one that decodes to nothing, one with a byte changed",
    ...["AAAA", "A".repeat(600), "-", "_", `${"A".repeat(43)}MTc2NjAwMDAwMCB3c194IGpvYl94`].map((token) => get(`/v1/transcription/results/${token}`, "")),
  ),
  {
    ...invalid("HOS-220", "workspaces named like a path, a property, an id of the gateway's own, with a NUL", ...["..", "__proto__", "a/b", "a b", "ws_01m7ybt3t7f8nssc1f490jnh4t", "a\0", "", "a".repeat(64)].map((slug) => send("POST", "/admin/v1/workspaces", { slug }, OPERATOR))),
    listener: "admin",
  },
];
