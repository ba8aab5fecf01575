// The guard against the table of cases/ssrf.json: its URL and DNS rows, through the real guard with a resolver of the test's own. The
// rows that describe a behaviour are in `caller.test.ts`, `system-network.test.ts`, `test/audio/remote-audio.test.ts` and
// `test/http/audio-url-domains/`.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { readFileSync } from "node:fs";
import { Socket } from "node:net";
import { mock, test } from "node:test";
import {
  type Connect,
  type ConnectTarget,
  createGuard,
  type Guard,
  type GuardOptions,
  type Resolve,
} from "../../src/outbound/guard.ts";
import { ConnectFailure, GuardRefusal } from "../../src/outbound/refusal.ts";
import { audioUrlPolicy, byokPolicy, type TargetPolicy, webhookPolicy } from "../../src/outbound/url-policy.ts";
import { socketServer } from "./loopback.ts";
import { pretendInternet } from "./pretend-internet.ts";
import { soon } from "./soon.ts";

interface UrlCase {
  readonly id: string;
  readonly url: string;
  readonly expect: "allow" | "reject";
  readonly reason: string;
  readonly dns?: Readonly<Record<string, readonly string[]>>;
  readonly config?: {
    readonly allowlist?: readonly string[];
    readonly globalAllowlist?: readonly string[];
    readonly allowedPorts?: readonly number[];
  };
}

const CASES = (JSON.parse(readFileSync("test/cases/ssrf.json", "utf8")) as Partial<UrlCase>[]).filter(
  (row): row is UrlCase => row.url !== undefined,
);
const HOST = "media.allowed.example";
const LISTED = [HOST, "*.cdn.allowed.example"];
const PUBLIC = "1.1.1.1";

const audio = (domains: readonly string[] = LISTED, allowedPorts: readonly number[] = [443]) =>
  audioUrlPolicy({ domains, allowedPorts });

test(`remote-audio.public-address, remote-audio.dial-vetted, remote-audio.plain-url: ${CASES.length} URL and DNS rows: what must be refused opens no socket, the rest dials one vetted address`, async (t) => {
  const world = await socketServer(t, () => {});
  for (const row of CASES) {
    const { config = {}, dns = { [HOST]: [PUBLIC], "global.platform.example": [PUBLIC] } } = row;
    const internet = pretendInternet();
    for (const [name, addresses] of Object.entries(dns)) {
      internet.name(name, addresses);
      if (row.expect === "allow") for (const address of addresses) internet.server(address, world);
    }
    const guard = createGuard(internet);
    const domains = [...(config.allowlist ?? LISTED), ...(config.globalAllowlist ?? [])];
    const outcome = await guard.dial(row.url, audio(domains, config.allowedPorts)).then(
      ({ socket }) => {
        socket.destroy();
        return "allow";
      },
      (error: unknown) => (error instanceof GuardRefusal ? "reject" : String(error)),
    );
    const about = `${row.id} ${row.url.slice(0, 80)}: ${row.reason}`;
    assert.equal(outcome, row.expect, about);
    assert.equal(guard.judged(), 1, about);
    assert.equal(internet.dialled.length, row.expect === "allow" ? 1 : 0, about);
    assert.ok(internet.lookups.length <= 1, about);
    assert.equal(internet.canaryConnections(), 0, about);
    const { findings, addresses } = await createGuard(internet).examine(row.url, audio(domains, config.allowedPorts));
    assert.equal(findings.every(({ refusal }) => refusal === null) ? "allow" : "reject", row.expect, about);
    assert.equal(findings.at(-1)?.rule === "public", row.expect === "allow" || internet.lookups.length > 0, about);
    assert.ok(row.expect === "reject" || addresses.length > 0, about);
  }
});

const reached: Connect = async ({ address }) => ({ socket: new Socket(), remoteAddress: address });

function guardOf(options: Partial<GuardOptions>) {
  const dialled: string[] = [];
  const connect: Connect = (target, signal) => {
    dialled.push(target.address);
    return (options.connect ?? reached)(target, signal);
  };
  const guard = createGuard({ resolve: async () => [PUBLIC], ...options, connect });
  const vet: Guard["vet"] = (...request) => soon(guard.vet(...request));
  const dial: Guard["dial"] = (...request) => soon(guard.dial(...request));
  return { dialled, guard: { ...guard, vet, dial } };
}

async function refusalOf(
  options: Partial<GuardOptions>,
  url = `https://${HOST}/a.wav`,
  policy: TargetPolicy = audio(),
) {
  const { guard, dialled } = guardOf(options);
  const error = await guard.dial(url, policy).then(
    () => assert.fail(`${url} was not refused`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof GuardRefusal, String(error));
  return { reason: error.reason, dialled };
}

test("remote-audio.nat64: SSRF-263, with NAT64 configured an address is judged by the IPv4 address in it, and dialled as it is", async () => {
  const answering = (...addresses: readonly string[]) => ({ nat64: true, resolve: async () => addresses });
  const url = `https://${HOST}/a.wav`;
  const { guard, dialled } = guardOf(answering("64:ff9b::808:808", "64:ff9b::1.1.1.1", "8.8.8.8"));
  const { target, socket } = await guard.dial(url, audio());
  socket.destroy();
  assert.deepEqual(target.addresses, ["64:ff9b::808:808", "64:ff9b::1.1.1.1", "8.8.8.8"]);
  assert.deepEqual(dialled, ["64:ff9b::808:808"]);
  const opened = webhookPolicy({ allowHttp: false, allowedPrivateCidrs: ["10.0.0.0/8"] });
  for (const [address, policy] of [
    ["64:ff9b::a00:1", audio()],
    ["64:ff9b::a9fe:a9fe", audio()],
    ["64:ff9b::a83f:8110", audio()],
    // The local prefix, and what is around the one that is known.
    ["64:ff9b:1::808:808", audio()],
    ["64:ff9b::1:808:808", audio()],
    ["::ffff:8.8.8.8", audio()],
    ["64:ff9b::a00:1", opened],
  ] as const)
    assert.deepEqual(
      await refusalOf(answering(address), url, policy),
      { reason: "address_not_public", dialled: [] },
      address,
    );
  const own = () => ({ endpoints: [], addresses: ["8.8.8.8"] });
  assert.equal((await refusalOf({ ...answering("64:ff9b::808:808"), own }, url)).reason, "address_not_public");
  const plainHttp = byokPolicy({ allowedPrivateCidrs: ["10.0.0.0/8"] });
  assert.equal((await refusalOf(answering("64:ff9b::808:808"), `http://${HOST}/`, plainHttp)).reason, "scheme");
});

test("remote-audio.nat64: SSRF-263, without the setting NAT64 is refused whole", async () => {
  const { reason } = await refusalOf({ resolve: async () => ["64:ff9b::808:808"] });
  assert.equal(reason, "address_not_public");
});

const REASONS: readonly (readonly [url: string, reason: string])[] = [
  ["http://media.allowed.example/", "scheme"],
  ["ftp://media.allowed.example/", "scheme"],
  ["https:media.allowed.example/", "malformed"],
  ["https://media.allowed.example:80/", "port"],
  ["https://media.allowed.example:0/", "port"],
  ["https://media.allowed.example:65536/", "malformed"],
  ["https://media.allowed.example:/", "malformed"],
  ["https://evil.test/", "host_not_allowed"],
  ["https://localhost/", "host_not_allowed"],
  ["https://127.0.0.1/", "address_not_public"],
  ["https://8.8.8.8/", "address_not_public"],
  ["https://[::1]/", "address_not_public"],
  ...[
    "0x7f.1",
    "0X7F.1",
    "0x7f.0.0.1",
    "0x7f000001",
    "0x",
    "127.1",
    "127.0.1",
    "2130706433",
    "017700000001",
    "0177.0.0.1",
    "0",
    "127.0.0.1.",
    "127.0.0.01",
    "127.0.0.0x1",
    "8.8.2056",
    "425.510.425.510",
    "4294967296",
    "0x41414141A9FEA9FE",
    "1.2.3.4.5",
    "0o177.0.0.1",
    "127\u30020\u30020\u30021",
    "\uff11\uff12\uff17.\uff10.\uff10.\uff11",
    "media.allowed.example.1",
    "[0::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
  ].map((host) => [`https://${host}/`, "address_not_public"] as const),
  ["https://0x7f.1:443/a", "address_not_public"],
  ["https://0x7f.1", "address_not_public"],
  ["https://user@0x7f.1/", "malformed"],
  ["https://[::1", "malformed"],
  ["https://media.allowed.example./", "malformed"],
  ["https://-media.allowed.example/", "malformed"],
  [`https://${"a".repeat(64)}.cdn.allowed.example/`, "malformed"],
  ["https://a_b.cdn.allowed.example/", "malformed"],
  ["https://media.allowed.example?x=1@127.0.0.1", "malformed"],
  ["https://media.allowed.example/a\u0000", "malformed"],
  ["https://media.allowed.example/\u00e4", "malformed"],
  ["https://media.allowed.example/a\n", "malformed"],
  ["\u0000https://media.allowed.example/", "malformed"],
  ["https://@media.allowed.example/", "malformed"],
  ["https://media.allowed.example:443@evil.test/", "malformed"],
];

for (const [url, reason] of REASONS) {
  test(`remote-audio.plain-url: ${JSON.stringify(url)} is refused as ${reason}, and no name server is asked`, async () => {
    let asked = 0;
    const resolve: Resolve = async () => [PUBLIC].slice(0, ++asked);
    const refusal = await refusalOf({ resolve }, url);
    assert.deepEqual([refusal.reason, refusal.dialled, asked], [reason, [], 0]);
  });
}

// Below each of them is a suffix of the public list, in its own part or in that of the hosts.
for (const [entry, suffix, ofOneSite] of [
  ["*.amazonaws.com", "s3.amazonaws.com", "media.amazonaws.com"],
  ["*.yandexcloud.net", "storage.yandexcloud.net", "media.yandexcloud.net"],
  ["*.uk", "co.uk", "example.uk"],
  ["*.allowed.example", null, "cdn.allowed.example"],
] as const) {
  test(`remote-audio.entry-match: ${entry} matches ${ofOneSite}, and no suffix under which anyone can register a name`, async () => {
    const { guard } = guardOf({});
    assert.equal((await guard.vet(`https://${ofOneSite}/a.wav`, audio([entry]))).url.hostname, ofOneSite);
    if (suffix === null) return;
    let asked = 0;
    const resolve: Resolve = async () => [PUBLIC].slice(0, ++asked);
    const refusal = await refusalOf({ resolve }, `https://${suffix}/bucket/a.wav`, audio([entry]));
    assert.deepEqual([refusal.reason, refusal.dialled, asked], ["host_not_allowed", [], 0]);
  });
}

test("remote-audio.sent-as-given: a signed query is sent byte for byte, dot segments are resolved, the fragment is dropped", async () => {
  const { guard } = guardOf({});
  for (const [url, pathAndQuery] of [
    [`https://${HOST}/a.wav?X-Sig=abc%2Fdef&name='x'&list[]={1}|2`, "/a.wav?X-Sig=abc%2Fdef&name='x'&list[]={1}|2"],
    [`https://${HOST}/%2e%2e/b/../a.wav#?q@x`, "/a.wav"],
    [`https://${HOST}`, "/"],
    [`https://${HOST}?x=1`, "/?x=1"],
    [`https://${HOST}/a@b?c@d`, "/a@b?c@d"],
  ] as const)
    assert.equal((await guard.vet(url, audio())).pathAndQuery, pathAndQuery, url);
});

test("remote-audio.plain-url: a URL of 8,192 characters is judged, one of 8,193 is malformed", async () => {
  const { guard } = guardOf({});
  const url = (length: number) => `https://${HOST}/`.padEnd(length, "a");
  assert.equal((await guard.vet(url(8_192), audio())).addresses[0], PUBLIC);
  assert.equal((await refusalOf({}, url(8_193))).reason, "malformed");
});

test("remote-audio.opaque-name: SSRF-307, SSRF-413, no address, an unknown name and one bad answer among good ones give one refusal", async () => {
  const failing = (): Promise<readonly string[]> => Promise.reject(new Error("queryA ENOTFOUND"));
  const answers: readonly Resolve[] = [
    failing,
    async () => [],
    async () => ["10.0.0.1"],
    async () => [PUBLIC, "2606:4700:4700::1111", "192.168.1.1"],
    async () => [PUBLIC, "not an address"],
    async () => Array.from({ length: 33 }, (_, at) => `8.8.8.${at}`),
  ];
  for (const resolve of answers)
    assert.deepEqual(await refusalOf({ resolve }), { reason: "address_not_public", dialled: [] });
  const inside = guardOf({ resolve: async () => ["10.0.0.1"] }).guard.vet(`https://${HOST}/`, audio());
  await assert.rejects(inside, { isUnresolved: false });
  const { guard } = guardOf({ resolve: async () => Array.from({ length: 32 }, (_, at) => `8.8.8.${at}`) });
  assert.equal((await guard.vet(`https://${HOST}/`, audio())).addresses.length, 32);
});

test("remote-audio.operator-log: the reason why a name was not resolved is in the refusal's detail, for the operator alone", async () => {
  const detailOf = async (reason: unknown) => {
    const { guard } = guardOf({ resolve: () => Promise.reject(reason) });
    const error = await guard.vet(`https://${HOST}/`, audio()).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof GuardRefusal);
    assert.equal(error.message, "refused: address_not_public");
    assert.equal(error.isUnresolved, true);
    return error.detail;
  };
  assert.equal(await detailOf(new Error("queryA ENOTFOUND")), "not resolved: queryA ENOTFOUND");
  assert.equal(await detailOf("no error at all"), "not resolved: ");
});

test("remote-audio.name-not-address: brackets without an address in them are refused as text, before a parser reads them", async () => {
  for (const host of ["[1+1::1]", "[(1::1)]", "[1*::1]"]) {
    const { guard } = guardOf({});
    const error = await guard.vet(`https://${host}/`, audio()).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof GuardRefusal);
    assert.deepEqual([error.reason, error.detail], ["malformed", "not a plain https URL"]);
  }
});

test("remote-audio.dns-timeout: SSRF-315, a resolver that never answers is aborted and refused like an unknown name", async () => {
  let isAborted = false;
  const resolve: Resolve = (_name, signal) => {
    signal.addEventListener("abort", () => {
      isAborted = true;
    });
    return new Promise(() => {});
  };
  assert.equal((await refusalOf({ resolve, dnsTimeoutMs: 30 })).reason, "address_not_public");
  assert.equal(isAborted, true);
});

test("remote-audio.dial-vetted: a socket that reached another address than the vetted one is refused and destroyed", async () => {
  for (const remoteAddress of ["127.0.0.1", "1.1.1.2", undefined]) {
    const socket = new Socket();
    const refusal = await refusalOf({ connect: async () => ({ socket, remoteAddress }) });
    assert.deepEqual(refusal, { reason: "address_not_public", dialled: [PUBLIC] });
    assert.equal(socket.destroyed, true);
  }
});

test("remote-audio.connect-timeout: the vetted addresses are dialled in their order until one answers, and nothing else is", async () => {
  const connect: Connect = async (target) => {
    if (target.address !== "8.8.8.3") throw new ConnectFailure("connect");
    return { socket: new Socket(), remoteAddress: target.address };
  };
  const { guard, dialled } = guardOf({ resolve: async () => ["8.8.8.1", "8.8.8.2", "8.8.8.3", "8.8.8.4"], connect });
  await guard.dial(`https://${HOST}/`, audio());
  assert.deepEqual(dialled, ["8.8.8.1", "8.8.8.2", "8.8.8.3"]);
});

test("remote-audio.connect-timeout: addresses that refuse at once leave the whole deadline to the last one", async (t) => {
  t.mock.method(performance, "now", () => 1_000);
  const { mock: set } = t.mock.method(globalThis, "setTimeout");
  const connect: Connect = async (target, signal) => {
    if (target.address !== "8.8.8.9") throw new ConnectFailure("connect");
    assert.equal(signal.aborted, false);
    throw new ConnectFailure("connect");
  };
  const addresses = Array.from({ length: 9 }, (_, at) => `8.8.8.${at + 1}`);
  const { guard, dialled } = guardOf({ resolve: async () => addresses, connect, connectTimeoutMs: 500 });
  await assert.rejects(guard.dial(`https://${HOST}/`, audio()), ConnectFailure);
  assert.equal(dialled.length, 9);
  // Halving for each of the nine would have left it less than two milliseconds.
  assert.equal(set.calls.at(-1)?.arguments[1], 500);
});

test("remote-audio.connect-timeout: SSRF-330, SSRF-331, connections that hang end together within one deadline, and one that opens later is destroyed", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const opened: Socket[] = [];
  const late = Promise.withResolvers<void>();
  const connect: Connect = async ({ address }, signal) => {
    setImmediate(() => t.mock.timers.tick(40));
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    const socket = new Socket();
    opened.push(socket);
    if (opened.length === 2) setImmediate(late.resolve);
    return { socket, remoteAddress: address };
  };
  const { guard } = guardOf({ resolve: async () => ["8.8.8.1", "8.8.8.2"], connect, connectTimeoutMs: 40 });
  const error = await guard.dial(`https://${HOST}/`, audio()).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof ConnectFailure);
  assert.deepEqual([error.stage, error.failure, error.dispatched], ["timeout", "timeout", false]);
  await soon(late.promise);
  assert.deepEqual(
    opened.map((socket) => socket.destroyed),
    [true, true],
  );
});

test("remote-audio.not-itself: SSRF-332, SSRF-454, the gateway's own public address and its own listeners are not called", async () => {
  const own = () => ({ endpoints: ["gateway.example:443", "127.0.0.1:8080"], addresses: ["9.9.9.9", "10.0.0.9"] });
  const open = webhookPolicy({ allowHttp: true, allowedPrivateCidrs: ["10.0.0.0/8", "127.0.0.0/8"] });
  assert.equal((await refusalOf({ own, resolve: async () => ["9.9.9.9"] })).reason, "address_not_public");
  assert.equal((await refusalOf({ own }, "https://gateway.example/hook", open)).reason, "address_not_public");
  assert.equal((await refusalOf({ own }, "https://9.9.9.9/hook", open)).reason, "address_not_public");
  assert.equal((await refusalOf({ own }, "http://127.0.0.1:8080/hook", open)).reason, "address_not_public");
  // What else answers on this machine, at an address the operator opened, does not matter here.
  const { guard } = guardOf({ own });
  await guard.vet("http://10.0.0.9:3000/hook", open);
  await guard.vet("http://127.0.0.1:3000/hook", open);
});

test("remote-audio.hang-up: a caller that gives up gets its own abort reason at once, not a refusal", async () => {
  const hangUp = new AbortController();
  let received: AbortSignal | null = null;
  const resolve: Resolve = (_name, signal) => {
    received = signal;
    return new Promise(() => {});
  };
  const { guard } = guardOf({ resolve });
  const dialling = guard.dial(`https://${HOST}/`, audio(), hangUp.signal).catch((thrown: unknown) => thrown);
  hangUp.abort();
  // At once: not when the name server's time is over.
  assert.equal((received as AbortSignal | null)?.aborted, true);
  assert.equal(await dialling, hangUp.signal.reason);
});

test("remote-audio.plain-url: a host name of 253 characters is judged, one of 254 is malformed (RFC 1035)", async () => {
  const name = (length: number) => "a.".repeat(120).padEnd(length - ".example.com".length, "b") + ".example.com";
  const policy = webhookPolicy({ allowHttp: false, allowedPrivateCidrs: [] });
  const { guard } = guardOf({});
  assert.deepEqual((await guard.vet(`https://${name(253)}/`, policy)).addresses, [PUBLIC]);
  assert.equal((await refusalOf({}, `https://${name(254)}/`, policy)).reason, "malformed");
});

test("remote-audio.shared-guard: where http is allowed, it is judged like https, and any other scheme is refused", async () => {
  const policy = webhookPolicy({ allowHttp: true, allowedPrivateCidrs: [] });
  const { guard, dialled } = guardOf({});
  await guard.dial("http://hooks.example/", policy);
  assert.deepEqual(dialled, [PUBLIC]);
  const targets: ConnectTarget[] = [];
  const connect: Connect = (target, signal) => {
    targets.push(target);
    return reached(target, signal);
  };
  const connecting = guardOf({ connect }).guard;
  for (const url of ["http://hooks.example/", "https://hooks.example/", "http://hooks.example:8080/"])
    (await connecting.dial(url, policy)).socket.destroy();
  assert.deepEqual(targets, [
    { address: PUBLIC, port: 80, tlsName: null },
    { address: PUBLIC, port: 443, tlsName: "hooks.example" },
    { address: PUBLIC, port: 8080, tlsName: null },
  ]);
  // A last label of digits and hyphens is a name to every parser.
  assert.deepEqual((await guard.vet("https://hooks.1-2/", policy)).addresses, [PUBLIC]);
  for (const url of ["http:hooks.example/", "https:hooks.example/", "http:/hooks.example/", "http://a@hooks.example/"])
    assert.equal((await refusalOf({}, url, policy)).reason, "malformed", url);
  assert.equal((await refusalOf({}, "ws://hooks.example/", policy)).reason, "scheme");
});

test("remote-audio.dns-timeout: a name server has two seconds by default: a slow one is waited for", async () => {
  const resolve: Resolve = () => new Promise((answer) => setTimeout(() => answer([PUBLIC]), 40));
  const { guard } = guardOf({ resolve });
  assert.deepEqual((await guard.vet(`https://${HOST}/`, audio())).addresses, [PUBLIC]);
});

test("remote-audio.entry-match: a list entry is exact, or a wildcard of exactly one label", async () => {
  const { guard } = guardOf({});
  const verdict = (host: string, domains: readonly string[]) =>
    guard.vet(`https://${host}/`, audio(domains)).then(
      () => true,
      () => false,
    );
  for (const [host, entry, expected] of [
    ["a.example.com", "a.example.com", true],
    ["A.EXAMPLE.COM", "a.example.com", true],
    ["b.a.example.com", "a.example.com", false],
    ["example.com", "a.example.com", false],
    ["xa.example.com", "a.example.com", false],
    ["a.example.com", "*.example.com", true],
    ["example.com", "*.example.com", false],
    ["b.a.example.com", "*.example.com", false],
    ["aexample.com", "*.example.com", false],
    ["a.example.com.evil.test", "*.example.com", false],
  ] as const)
    assert.equal(await verdict(host, [entry]), expected, `${host} of ${entry}`);
  assert.equal(await verdict("a.example.com", []), false);
});

test("remote-audio.plain-http-ranges: a workspace's own server is called over plain HTTP inside the opened ranges alone, over TLS at any public address", async () => {
  const verdict = async (url: string, allowedPrivateCidrs: readonly string[], addresses: readonly string[] = []) => {
    const { guard } = guardOf({ resolve: async () => addresses });
    return guard.vet(url, byokPolicy({ allowedPrivateCidrs })).then(
      () => "allow",
      (error: unknown) => (error instanceof GuardRefusal ? error.reason : String(error)),
    );
  };
  const LAN = ["10.0.0.0/8"];
  assert.equal(await verdict("http://lan.example/", [], ["10.0.0.5"]), "scheme");
  assert.equal(await verdict("http://lan.example/", LAN, ["10.0.0.5"]), "allow");
  assert.equal(await verdict("https://lan.example/", LAN, ["10.0.0.5"]), "allow");
  assert.equal(await verdict("https://lan.example:8443/", [], ["10.0.0.5"]), "address_not_public");
  assert.equal(await verdict("http://10.0.0.5:8000/", LAN), "allow");
  assert.equal(await verdict("http://some.example/", LAN, [PUBLIC]), "scheme");
  assert.equal(await verdict("http://some.example/", LAN, ["10.0.0.5", PUBLIC]), "scheme");
  assert.equal(await verdict("https://some.example/", LAN, ["10.0.0.5", PUBLIC]), "allow");
  assert.equal(await verdict("https://some.example/", [], [PUBLIC]), "allow");
});

test("remote-audio.connect-timeout: an address that hangs is abandoned at half of the time, and the next one is dialled", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const hangs = Promise.withResolvers<void>();
    const connect: Connect = async (target, signal) => {
      if (target.address === "8.8.8.2") return reached(target, signal);
      hangs.resolve();
      return new Promise(() => undefined);
    };
    const { guard, dialled } = guardOf({ resolve: async () => ["8.8.8.1", "8.8.8.2"], connect });
    const dialling = guard.dial(`https://${HOST}/`, audio());
    await soon(hangs.promise);
    mock.timers.tick(2_500);
    (await dialling).socket.destroy();
    assert.deepEqual(dialled, ["8.8.8.1", "8.8.8.2"]);
  } finally {
    mock.timers.reset();
  }
});

test("remote-audio.connect-timeout: the first of two addresses that hang has half of the time, the second one all that remains", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const asked: AbortSignal[] = [];
    const turns = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const connect: Connect = (_target, signal) => {
      asked.push(signal);
      turns[asked.length - 1]?.resolve();
      return new Promise(() => undefined);
    };
    const resolve: Resolve = async () => ["8.8.8.1", "8.8.8.2"];
    const { guard } = guardOf({ resolve, connect, connectTimeoutMs: 3_600_000 });
    const dialling = guard.dial(`https://${HOST}/`, audio()).catch((thrown: unknown) => thrown);
    const aborted = () => asked.map((signal) => signal.aborted);
    await turns[0]?.promise;
    // The clock that says how much is left advances by itself: by milliseconds, of an hour.
    mock.timers.tick(1_500_000);
    assert.deepEqual(aborted(), [false]);
    mock.timers.tick(300_000);
    await soon(Promise.resolve(turns[1]?.promise));
    assert.deepEqual(aborted(), [true, false]);
    mock.timers.tick(3_000_000);
    assert.deepEqual(aborted(), [true, false]);
    mock.timers.tick(600_000);
    assert.deepEqual(aborted(), [true, true]);
    assert.ok((await dialling) instanceof ConnectFailure);
  } finally {
    mock.timers.reset();
  }
});

test("remote-audio.nothing-left: a finished judgement leaves neither a timer nor a listener", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timers();
  const { signal } = new AbortController();
  const { guard } = guardOf({});
  (await guard.dial(`https://${HOST}/`, audio(), signal)).socket.destroy();
  assert.deepEqual([timers(), getEventListeners(signal, "abort").length], [before, 0]);
});
