// Runs in the browser's audio thread: turns what the microphone delivers into pieces of 100 ms of 16-bit samples.
//   PATCHBAY_URL=http://127.0.0.1:8080 PATCHBAY_API_KEY=… node server.mjs
const PIECE = 1600;

class Samples extends AudioWorkletProcessor {
  piece = new Int16Array(PIECE);
  filled = 0;

  process([[channel]]) {
    for (const sample of channel ?? []) {
      this.piece[this.filled] = Math.max(-1, Math.min(1, sample)) * 32767;
      this.filled += 1;
      if (this.filled < PIECE) continue;
      this.port.postMessage(this.piece.buffer, [this.piece.buffer]);
      this.piece = new Int16Array(PIECE);
      this.filled = 0;
    }
    return true;
  }
}

registerProcessor("samples", Samples);
