// The multipart reader: the same parts however the bytes are cut, and a clear no to anything malformed (RFC 7578).
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  boundaryOf,
  MalformedMultipart,
  type MultipartBody,
  readMultipart,
} from "../../sandbox/wire/multipart-reader.ts";

async function* cut(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text, "latin1");
  for (let offset = 0; offset < bytes.length; offset += size) yield bytes.subarray(offset, offset + size);
}
const read = (text: string, size = 7): Promise<MultipartBody> => readMultipart(cut(text, size), "b", () => undefined);
const part = (head: string, body: string): string =>
  `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;

const CONTENT = "\r\n--\r\n--x\r\n-\0\xff--b not at a line's start\r\n--a";
const BODY = `${part('name="model"', "whisper-1")}${part('name="file"; filename="a \\"b\\".wav"', CONTENT)}${part('name="after"', "")}--b--\r\n`;

test("providers.sandbox-bodies: fields and file are the same wherever the bytes are split", async () => {
  for (let size = 1; size <= BODY.length; size++) {
    const { fields, file } = await read(BODY, size);
    assert.deepEqual(
      fields,
      [
        ["model", "whisper-1"],
        ["after", ""],
      ],
      `cut at ${size}`,
    );
    assert.equal(file?.name, 'a "b".wav');
    assert.ok(file?.spooled.content.kind === "bytes");
    assert.equal(Buffer.from(file.spooled.content.bytes).toString("latin1"), CONTENT, `cut at ${size}`);
  }
});

test("providers.sandbox-bodies: a field is reported as soon as it is complete", async () => {
  const seen: string[] = [];
  await readMultipart(cut(BODY, 9), "b", (name, value) => seen.push(`${name}=${value}`));
  assert.deepEqual(seen, ["model=whisper-1", "after="]);
});

const MALFORMED: readonly (readonly [string, string])[] = [
  ["empty", ""],
  ["no last boundary", part('name="a"', "1")],
  ["text before the first boundary", `hello\r\n${BODY}`],
  ["a part without a name", `--b\r\nContent-Disposition: form-data\r\n\r\n1\r\n--b--`],
  ["a part without a disposition", `--b\r\nContent-Type: text/plain\r\n\r\n1\r\n--b--`],
  ["a header without a colon", `--b\r\nnonsense\r\n\r\n1\r\n--b--`],
  ["two files", `${part('name="file"; filename="a"', "1")}${part('name="file"; filename="b"', "2")}--b--`],
  ["a boundary that continues", `${part('name="a"', "1")}--bc\r\n\r\n--b--`],
  ["a header without end", `--b\r\n${"x".repeat(20_000)}`],
];
for (const [why, text] of MALFORMED) {
  test(`providers.sandbox-bodies: malformed: ${why}`, async () => {
    await assert.rejects(read(text, 64), MalformedMultipart);
  });
}

test("providers.sandbox-bodies: the boundary is read from any parameter order and quoting, and only from multipart/form-data", () => {
  assert.equal(boundaryOf("multipart/form-data; boundary=abc"), "abc");
  assert.equal(boundaryOf('Multipart/Form-Data; charset=utf-8; boundary="a b"'), "a b");
  assert.equal(boundaryOf("multipart/form-data; boundary=abc; charset=utf-8"), "abc");
  assert.equal(boundaryOf("multipart/mixed; boundary=abc"), null);
  assert.equal(boundaryOf("multipart/form-data"), null);
  assert.equal(boundaryOf(undefined), null);
});
