// The part of `seek-bzip` that is used. The library has no types of its own.
declare module "seek-bzip" {
  interface Input {
    readByte(): number;
    read(buffer: Uint8Array, offset: number, length: number): number;
    eof(): boolean;
  }
  interface Output {
    writeByte(byte: number): void;
  }
  const Bunzip: { decode(input: Input, output: Output, multistream: boolean): void };
  export default Bunzip;
}
