// Parses the box structure of ISO base media files (mp4, m4a) with bounded work: no recursion, every step advances, declared sizes are checked.
import { type ByteReader, text4 } from "./byte-reader.ts";
import { CHUNK_LIMIT, DEPTH_LIMIT, InvalidAudio } from "./invalid-audio.ts";

export type Box = { readonly type: string; readonly at: number; readonly start: number; readonly end: number };
export type BoxTree = Box & { readonly children: readonly BoxTree[] };

const CONTAINERS = new Set(["moov", "trak", "mdia", "minf", "stbl", "edts", "dinf", "mvex", "moof", "traf"]);
const TREE_LIMIT = 100_000;

/** The box at `at`. Its end may be beyond `limit`: the caller decides what truncation means there. Size 0 is legal only at the top level. */
export function readBox(reader: ByteReader, at: number, limit: number, isTopLevel: boolean): Box {
  const size = reader.u32(at);
  const type = text4(reader, at + 4);
  if (size === 0 && isTopLevel) return { type, at, start: at + 8, end: limit };
  if (size === 1) {
    const high = reader.u32(at + 8);
    const large = high * 2 ** 32 + reader.u32(at + 12);
    if (high >= 2 ** 21 || large < 16) throw new InvalidAudio("has a box of an impossible size");
    return { type, at, start: at + 16, end: at + large };
  }
  if (size < 8) throw new InvalidAudio("has a box of an impossible size");
  return { type, at, start: at + 8, end: at + size };
}

/** The children of a range, all inside it. Up to 7 bytes at its end may be a terminator or padding. */
export function listBoxes(reader: ByteReader, start: number, end: number): readonly Box[] {
  const boxes: Box[] = [];
  for (let at = start; at + 8 <= end; ) {
    const box = readBox(reader, at, end, false);
    if (box.end > end) throw new InvalidAudio("has a box that is larger than the box around it");
    boxes.push(box);
    if (boxes.length > CHUNK_LIMIT) throw new InvalidAudio("has more boxes than a recording can need");
    at = box.end;
  }
  return boxes;
}

/** A container with all its descendants. Uses an explicit stack, because the depth is untrusted input. */
export function readTree(reader: ByteReader, root: Box): BoxTree {
  type Open = BoxTree & { readonly children: BoxTree[] };
  const top: Open = { ...root, children: [] };
  const open: { node: Open; depth: number }[] = [{ node: top, depth: 1 }];
  let count = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    if (next.depth > DEPTH_LIMIT) throw new InvalidAudio("has boxes nested deeper than a recording can need");
    for (const box of listBoxes(reader, next.node.start, next.node.end)) {
      count += 1;
      if (count > TREE_LIMIT) throw new InvalidAudio("has more boxes than a recording can need");
      const node: Open = { ...box, children: [] };
      next.node.children.push(node);
      if (CONTAINERS.has(box.type)) open.push({ node, depth: next.depth + 1 });
    }
  }
  return top;
}

/** The first box on a path such as `["mdia", "minf", "stbl"]`. */
export function findBox(tree: BoxTree, ...path: readonly string[]): BoxTree | null {
  let node: BoxTree | null = tree;
  for (const type of path) node = node?.children.find((child) => child.type === type) ?? null;
  return node;
}

/** The number of entries of a table, checked against the bytes of its box, so that no loop depends on an untrusted count. */
export function countEntries(reader: ByteReader, box: Box, countAt: number, entryBytes: number): number {
  const count = reader.u32(box.start + countAt);
  if (box.start + countAt + 4 + count * entryBytes > box.end)
    throw new InvalidAudio("has a table with fewer entries than declared");
  return count;
}
