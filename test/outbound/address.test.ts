// Which addresses are public (R8), against a second classifier that shares nothing with the first: bit arithmetic over the registries'
// blocks.
import assert from "node:assert/strict";
import { test } from "node:test";
import { behindNat64, isInRange, judgeAddress, sameAddress } from "../../src/outbound/address.ts";
import { seeded } from "../faults/seeded.ts";

/** IANA's IPv4 special-purpose registry, multicast, and one cloud platform's address that no registry has. */
const IPV4_BLOCKS: readonly (readonly [first: string, bits: number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  ["255.255.255.255", 32],
];
/** IANA's IPv6 special-purpose registry, multicast, site-local, and the forms that carry an IPv4 address. */
const IPV6_BLOCKS: readonly (readonly [first: bigint, bits: number])[] = [
  [0n, 96],
  [1n, 128],
  [0xffffn << 32n, 96],
  [0xffffn << 48n, 96],
  [0x64ff9bn << 96n, 96],
  [0x64ff9b0001n << 80n, 48],
  [0x0100n << 112n, 64],
  [(0x0100n << 112n) + (1n << 64n), 64],
  [0x20010000n << 96n, 23],
  [0x20010000n << 96n, 32],
  [(0x20010001n << 96n) + 1n, 128],
  [(0x20010001n << 96n) + 2n, 128],
  [0x20010002n << 96n, 48],
  [0x20010003n << 96n, 32],
  [0x200100040112n << 80n, 48],
  [0x20010010n << 96n, 28],
  [0x20010020n << 96n, 28],
  [0x20010030n << 96n, 28],
  [0x20010db8n << 96n, 32],
  [0x2002n << 112n, 16],
  [0x2620004f8000n << 80n, 48],
  [0x3fffn << 112n, 20],
  [0x5f00n << 112n, 16],
  [0xfc00n << 112n, 7],
  [0xfe80n << 112n, 10],
  [0xfec0n << 112n, 10],
  [0xff00n << 112n, 8],
];

const number4 = (text: string): number => text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
const text4 = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join(".");
const RANGES4 = IPV4_BLOCKS.map(([first, bits]) => [number4(first), number4(first) + 2 ** (32 - bits) - 1] as const);

const isPublic4 = (value: number): boolean => !RANGES4.some(([first, last]) => value >= first && value <= last);

/** By its first 48 bits: no block within 2000::/3 is finer. */
function isPublic6(high: number, next: number): boolean {
  if (high >>> 29 !== 1) return false;
  if (high >>> 9 === 0x20010000 >>> 9 || high === 0x20010db8 || high >>> 16 === 0x2002) return false;
  return high >>> 12 !== 0x3fff0 && !(high === 0x2620004f && next === 0x8000);
}

const group = (value: number): string => (value & 0xffff).toString(16);
const text6 = (words: readonly number[]): string =>
  words.map((word) => `${group(word >>> 16)}:${group(word)}`).join(":");
const words6 = (value: bigint): number[] => [96n, 64n, 32n, 0n].map((shift) => Number((value >> shift) & 0xffffffffn));

function agrees(text: string, expected: boolean): void {
  const verdict = judgeAddress(text);
  if (verdict.isPublic !== expected) assert.fail(`${text}: ${JSON.stringify(verdict)}, expected ${expected}`);
}

test("remote-audio.public-address: R8, two classifiers agree on each of 1,000,000 random addresses, half of them in or next to special blocks", (t) => {
  const seed = 20261121;
  const random = seeded(seed);
  const word = (): number => Math.floor(random() * 2 ** 32);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  let count = 0;
  let publicCount = 0;
  // Mutation runs make do with fewer.
  const most = 1_000_000 / Number(process.env["PATCHBAY_FEWER_ADDRESSES"] ?? 1);
  const count4 = most / 2;
  for (; count < count4; count++) {
    const [first, last] = pick(RANGES4);
    // Every other one: in the block, or as far outside it as it is wide.
    const width = Math.max(2, last - first + 1);
    const near = Math.min(2 ** 32 - 1, Math.max(0, Math.floor(first - width + random() * 3 * width)));
    const value = count % 2 === 0 ? word() : near;
    const expected = isPublic4(value);
    if (expected) publicCount++;
    agrees(text4(value), expected);
  }
  const blocks = IPV6_BLOCKS.map(([first, bits]) => [words6(first), bits] as const);
  for (; count < most; count++) {
    const words = [word(), word(), word(), word()];
    if (count % 4 === 0) words[0] = (word() >>> 3) | 0x20000000;
    if (count % 4 > 1) {
      const [first, bits] = pick(blocks);
      // The block's own bits, then noise; of every fourth the bit before them is flipped: the block next to it.
      for (let at = 0; at < 4; at++) {
        const kept = Math.min(32, Math.max(0, bits - at * 32));
        const mask = kept === 0 ? 0 : (-1 << (32 - kept)) >>> 0;
        words[at] = (((first[at] ?? 0) & mask) | ((words[at] ?? 0) & ~mask)) >>> 0;
      }
      if (count % 4 === 3) {
        const bit = bits - 1;
        words[bit >>> 5] = ((words[bit >>> 5] ?? 0) ^ (1 << (31 - (bit & 31)))) >>> 0;
      }
    }
    const [high = 0, next = 0] = words;
    const expected = isPublic6(high >>> 0, next >>> 16);
    if (expected) publicCount++;
    agrees(text6(words), expected);
  }
  t.diagnostic(`n=${count}, seed=${seed}, ${publicCount} of them public`);
  assert.ok(publicCount > most * 0.2 && publicCount < most * 0.8);
});

test("remote-audio.public-address: the first and last address of every registry block are refused, those before and after as the registries say", () => {
  for (const [first, last] of RANGES4) {
    for (const value of [first, last]) agrees(text4(value), false);
    for (const value of [first - 1, last + 1])
      if (value >= 0 && value < 2 ** 32) agrees(text4(value), isPublic4(value));
  }
  const all = 1n << 128n;
  for (const [first, bits] of IPV6_BLOCKS) {
    const last = first + (1n << BigInt(128 - bits)) - 1n;
    for (const value of [first, last]) agrees(text6(words6(value)), false);
    for (const value of [first - 1n, last + 1n]) {
      if (value < 0n || value >= all) continue;
      const [high = 0, next = 0] = words6(value);
      agrees(text6(words6(value)), isPublic6(high, next >>> 16));
    }
  }
});

test("remote-audio.public-address: every spelling that is not one plain address is refused", () => {
  for (const text of [
    "",
    " 8.8.8.8",
    "8.8.8.8 ",
    "8.8.8",
    "134744072",
    "0x08080808",
    "010.8.8.8",
    "8.8.8.8/32",
    "8.8.8.256",
    "[2606:4700::1]",
    "2606:4700::1%eth0",
    "2606:4700::1/64",
    "2606:4700:::1",
    "localhost",
  ])
    assert.equal(judgeAddress(text).isPublic, false, text);
  for (const text of ["8.8.8.8", "2606:4700:4700::1111", "2606:4700:4700:0000::1111", "2606:4700:4700::1.1.1.1"])
    assert.equal(judgeAddress(text).isPublic, true, text);
});

test("remote-audio.transition-forms: an address whose first byte alone is not zero carries no IPv4 address", () => {
  assert.equal(judgeAddress("2000::102:304").isPublic, true);
});

test("remote-audio.transition-forms: transition forms are refused whole, and the operator's log names the address inside", () => {
  for (const [text, range] of [
    ["::ffff:10.0.0.1", "mapped of private 10.0.0.1"],
    ["::ffff:8.8.8.8", "mapped of unicast 8.8.8.8"],
    ["::ffff:0:169.254.169.254", "translated of linkLocal 169.254.169.254"],
    ["::7f00:1", "compatible of loopback 127.0.0.1"],
    ["64:ff9b::808:808", "nat64 of unicast 8.8.8.8"],
    ["64:ff9b:1::7f00:1", "nat64 of loopback 127.0.0.1"],
    ["2002:7f00:1::", "6to4 of loopback 127.0.0.1"],
    // RFC 4380: the client's address is stored inverted.
    ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "teredo of reserved 192.0.2.45"],
    // An address of no such form is reported by its own name.
    ["168.63.129.16", "cloud platform"],
    ["100.100.100.200", "metadata"],
    ["4000::1", "outside 2000::/3"],
    ["1.2.3", "unreadable"],
  ] as const) {
    const verdict = judgeAddress(text);
    assert.equal(verdict.isPublic, false, text);
    assert.deepEqual([verdict.range, verdict.mayBeOpened], [range, false], text);
  }
});

test("remote-audio.shared-guard: only private, shared, unique local and loopback ranges can be opened, and no metadata service in them", () => {
  const mayBeOpened = (text: string) => {
    const verdict = judgeAddress(text);
    return !verdict.isPublic && verdict.mayBeOpened;
  };
  for (const text of ["10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "127.0.0.1", "fd12::1", "::1"])
    assert.equal(mayBeOpened(text), true, text);
  for (const text of [
    "0.0.0.0",
    "169.254.169.254",
    "168.63.129.16",
    "100.100.100.200",
    "192.0.0.192",
    "224.0.0.1",
    "255.255.255.255",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fd00:c1::a9fe:a9fe",
    "fe80::1",
    "ff02::1",
    "::",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
  ])
    assert.equal(mayBeOpened(text), false, text);
});

test("remote-audio.dial-vetted: the address that a socket reached is compared as an address, not as text", () => {
  assert.ok(sameAddress("1.1.1.1", "1.1.1.1"));
  assert.ok(sameAddress("::ffff:1.1.1.1", "1.1.1.1"));
  assert.ok(sameAddress("2606:4700:0:0::1", "2606:4700::1"));
  assert.ok(!sameAddress("1.1.1.1", "1.1.1.2"));
  assert.ok(!sameAddress("::1", "::2"));
  for (const [one, other] of [
    ["", ""],
    ["no address", "1.1.1.1"],
    ["1.1.1.1", "no address"],
  ] as const)
    assert.equal(sameAddress(one, other), false, `${one} and ${other}`);
});

test("remote-audio.shared-guard: a text that is no address is in no range, and an address is in ranges of its own kind only", () => {
  const both = ["fd00::/8", "10.0.0.0/8"];
  assert.equal(isInRange("10.0.0.1.example", both), false);
  assert.equal(isInRange("", both), false);
  assert.deepEqual([isInRange("10.1.2.3", both), isInRange("fd12::1", both)], [true, true]);
  assert.deepEqual(
    [isInRange("11.1.2.3", both), isInRange("fe80::1", both), isInRange("10.1.2.3", [])],
    [false, false, false],
  );
});

test("remote-audio.nat64: behind NAT64 an address is judged by its IPv4 address, and any other by itself", () => {
  assert.equal(behindNat64("64:ff9b::808:808"), "8.8.8.8");
  for (const other of ["64:ff9b:1::808:808", "2606:4700:4700::1111", "8.8.8.8", "no address"])
    assert.equal(behindNat64(other), other);
});
