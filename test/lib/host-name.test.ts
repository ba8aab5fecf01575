// Which entries an allowlist of hosts accepts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hostNameFault } from "../../src/lib/text/host-name.ts";

const label = "a".repeat(63);

for (const entry of [
  "media.example.com",
  "*.cdn.example.com",
  "my-bucket.s3.amazonaws.com",
  "xn--mnchen-3ya.de",
  "a.xn--p1ai.example",
  "1.example.com",
  "local.example.com",
  "internal.example.com",
  "allowed.example",
  `${label}.example.com`,
  `${label}.${label}.${label}.${"a".repeat(49)}.example.com`,
])
  test(`remote-audio.list-entries: ${entry} is accepted`, () => assert.equal(hostNameFault(entry), null));

for (const [entry, fault] of [
  ["", /must be a host name/],
  ["*", /must be a host name/],
  ["*.", /must be a host name/],
  ["*.*.example.com", /must be a host name/],
  ["a.*.example.com", /must be a host name/],
  ["Example.com", /must be a host name/],
  ["example.com.", /must be a host name/],
  [".example.com", /must be a host name/],
  ["a..example.com", /must be a host name/],
  ["example", /must be a host name/],
  ["127.0.0.1", /must be a host name/],
  ["0x7f.1", /must be a host name/],
  ["example.c", /must be a host name/],
  ["example.com-", /must be a host name/],
  ["-a.example.com", /must be a host name/],
  ["a-.example.com", /must be a host name/],
  [`a${label}.example.com`, /must be a host name/],
  [`${label}.${label}.${label}.${"a".repeat(50)}.example.com`, /must be a host name/],
  ["example.com\n", /must be a host name/],
  ["xn--a.example", /`xn--` label/],
  ["ok.xn--zzzzzz.example", /`xn--` label/],
  ["localhost", /must be a host name/],
  ["a.localhost", /private networks/],
  ["printer.local", /private networks/],
  ["metadata.google.internal", /private networks/],
  ["abc.onion", /private networks/],
  ["1.0.10.in-addr.arpa", /private networks/],
  ["co.uk", /suffix/],
  ["*.co.uk", /suffix/],
  ["*.com", /must be a host name|suffix/],
  ["s3.amazonaws.com", /suffix/],
  ["*.s3.amazonaws.com", /suffix/],
  ["*.github.io", /suffix/],
] as const)
  test(`remote-audio.list-entries: ${JSON.stringify(entry)} is refused`, () =>
    assert.match(hostNameFault(entry) ?? "taken", fault));
