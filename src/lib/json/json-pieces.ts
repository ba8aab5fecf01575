// Cuts a parsed value into pieces that another thread can deserialise within a few milliseconds each, and joins them again. A piece names the list or
// object that it continues by path, and follows the piece that contains it.

type Key = string | number;

export type JsonPiece =
  | { readonly kind: "root"; readonly value: unknown }
  | { readonly kind: "items"; readonly path: readonly Key[]; readonly items: readonly unknown[] }
  | { readonly kind: "members"; readonly path: readonly Key[]; readonly members: Readonly<Record<string, unknown>> };

/** Values per piece: 4,000 are deserialised in about 2 ms. */
const PIECE_VALUES = 4_000;
const CHARACTERS_OF_A_VALUE = 64;

/** Removes the values from the original. */
export function cutJson(value: unknown, pieceValues = PIECE_VALUES): readonly JsonPiece[] {
  const { value: root, pieces } = cut(value, [], pieceValues);
  return [{ kind: "root", value: root }, ...pieces];
}

interface Cut {
  /** Small enough to stay inside its parent. */
  readonly value: unknown;
  readonly weight: number;
  /** What was cut out of it. */
  readonly pieces: readonly JsonPiece[];
}

const NO_PIECES: readonly JsonPiece[] = [];

function cut(value: unknown, path: readonly Key[], most: number): Cut {
  if (typeof value === "string") return { value, weight: 1 + value.length / CHARACTERS_OF_A_VALUE, pieces: NO_PIECES };
  if (typeof value !== "object" || value === null) return { value, weight: 1, pieces: NO_PIECES };
  return Array.isArray(value) ? cutList(value, path, most) : cutObject(value as Record<string, unknown>, path, most);
}

function cutList(list: unknown[], path: readonly Key[], most: number): Cut {
  const inner: JsonPiece[] = [];
  const batches = createBatches(most);
  for (let index = 0; index < list.length; index += 1) {
    const item = cutMember(list[index], path, index, most);
    list[index] = item.value;
    for (const piece of item.pieces) inner.push(piece);
    batches.add(index, item.weight);
  }
  if (batches.isSmall()) return { value: list, weight: batches.weight(), pieces: inner };
  const own = batches.ranges().map(([from, to]) => ({ kind: "items" as const, path, items: list.slice(from, to) }));
  return { value: [], weight: 1, pieces: [...own, ...inner] };
}

function cutObject(object: Record<string, unknown>, path: readonly Key[], most: number): Cut {
  const inner: JsonPiece[] = [];
  const batches = createBatches(most);
  const names = Object.keys(object);
  for (const [index, name] of names.entries()) {
    const member = cutMember(object[name], path, name, most);
    object[name] = member.value;
    for (const piece of member.pieces) inner.push(piece);
    batches.add(index, member.weight + 1);
  }
  if (batches.isSmall()) return { value: object, weight: batches.weight(), pieces: inner };
  const own = batches.ranges().map(([from, to]) => ({
    kind: "members" as const,
    path,
    members: Object.fromEntries(names.slice(from, to).map((name) => [name, object[name]])),
  }));
  return { value: {}, weight: 1, pieces: [...own, ...inner] };
}

/** Most members are numbers and short strings, for which no path is created. */
function cutMember(value: unknown, path: readonly Key[], key: Key, most: number): Cut {
  return typeof value === "object" && value !== null ? cut(value, [...path, key], most) : cut(value, path, most);
}

function createBatches(most: number) {
  const ranges: [from: number, to: number][] = [];
  let weight = 1;
  let inLast = 0;
  return {
    add: (index: number, added: number): void => {
      weight += added;
      const last = ranges.at(-1);
      if (last === undefined || inLast + added > most) {
        ranges.push([index, index + 1]);
        inLast = added;
      } else {
        last[1] = index + 1;
        inLast += added;
      }
    },
    weight: () => weight,
    isSmall: () => weight <= most,
    ranges: () => ranges,
  };
}

/** Joins pieces in the order in which they were cut. */
export function createJsonJoiner(): { add(piece: JsonPiece): void; value(): unknown } {
  let root: unknown;
  return {
    add: (piece) => {
      if (piece.kind === "root") root = piece.value;
      else if (piece.kind === "items") {
        const list = at(root, piece.path) as unknown[];
        for (const item of piece.items) list.push(item);
      } else {
        const object = at(root, piece.path) as object;
        // Also correct for a member named `__proto__`.
        for (const [name, value] of Object.entries(piece.members))
          Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
      }
    },
    value: () => root,
  };
}

function at(root: unknown, path: readonly Key[]): unknown {
  let found = root;
  for (const key of path) found = (found as Record<Key, unknown>)[key];
  return found;
}
