// A name server on loopback (RFC 1035) that answers as a test says, and records what it was asked.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { TestContext } from "node:test";

/** Addresses; `nxdomain`; or silence. */
export type NameAnswer = readonly string[] | "nxdomain" | "silence";

export async function nameServer(t: TestContext, answer: (name: string, type: "A" | "AAAA") => NameAnswer) {
  const asked: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    const { name, end } = readName(query);
    const type = query.readUInt16BE(end) === 28 ? "AAAA" : "A";
    asked.push(`${type} ${name}`);
    const reply = answer(name, type);
    if (reply === "silence") return;
    const addresses = reply === "nxdomain" ? [] : reply;
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(reply === "nxdomain" ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(addresses.length, 6);
    head.writeUInt32BE(0, 8);
    const question = query.subarray(12, end + 4);
    socket.send(Buffer.concat([head, question, ...addresses.map((each) => record(each, type))]), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  t.after(() => socket.close());
  return { asked, server: `127.0.0.1:${socket.address().port}` };
}

function readName(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), end: at + 1 };
}

/** The name is a pointer to the question's. */
function record(address: string, type: "A" | "AAAA"): Buffer {
  const data =
    type === "A"
      ? Buffer.from(address.split(".").map(Number))
      : Buffer.from(
          address
            .split(":")
            .map((group) => group.padStart(4, "0"))
            .join(""),
          "hex",
        );
  const head = Buffer.from([0xc0, 12, 0, type === "A" ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, data.length]);
  return Buffer.concat([head, data]);
}
