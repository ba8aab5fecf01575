// Collects the bytes of a reply as they arrive. A single chunk is not copied. Several chunks are copied into blocks, so that a reply of one-byte chunks takes
// no more memory than its size.

const FIRST_BLOCK_BYTES = 16 * 1024;
const LARGEST_BLOCK_BYTES = 1024 * 1024;

export class ReplyBytes {
  #only: Buffer | null = null;
  readonly #blocks: Uint8Array<ArrayBuffer>[] = [];
  /** Bytes used in the last block. */
  #filled = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(chunk: Buffer): void {
    if (this.#size === 0) this.#only = chunk;
    else {
      this.#unshare();
      this.#copy(chunk);
    }
    this.#size += chunk.byteLength;
  }

  text(): string {
    return this.#only === null ? Buffer.concat(this.#views()).toString("utf8") : this.#only.toString("utf8");
  }

  /** The beginning of the text. It may end within a character. */
  beginning(bytes: number): string {
    const first = this.#only ?? this.#views()[0] ?? new Uint8Array();
    return Buffer.from(first.buffer, first.byteOffset, Math.min(bytes, first.byteLength)).toString("utf8");
  }

  /** Each block has its own buffer, so that it can be transferred to another thread. */
  blocks(): readonly Uint8Array<ArrayBuffer>[] {
    this.#unshare();
    return this.#views();
  }

  #unshare(): void {
    if (this.#only === null) return;
    this.#copy(this.#only);
    this.#only = null;
  }

  #copy(chunk: Uint8Array): void {
    for (let offset = 0; offset < chunk.byteLength; ) {
      const block = this.#room();
      const part = chunk.subarray(offset, offset + block.byteLength - this.#filled);
      block.set(part, this.#filled);
      this.#filled += part.byteLength;
      offset += part.byteLength;
    }
  }

  #room(): Uint8Array<ArrayBuffer> {
    const last = this.#blocks.at(-1);
    if (last !== undefined && this.#filled < last.byteLength) return last;
    const next = new Uint8Array(Math.min((last?.byteLength ?? FIRST_BLOCK_BYTES / 2) * 2, LARGEST_BLOCK_BYTES));
    this.#blocks.push(next);
    this.#filled = 0;
    return next;
  }

  #views(): readonly Uint8Array<ArrayBuffer>[] {
    return this.#blocks.map((block, index) =>
      index === this.#blocks.length - 1 ? block.subarray(0, this.#filled) : block,
    );
  }
}
