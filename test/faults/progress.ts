// Tells whoever watches a terminal how far a trial is; nobody else.

export type Sayer = (text: string) => void;

const WIDTH = 60;

export const say: Sayer = (text) => {
  if (process.stderr.isTTY) process.stderr.write(`\r${text.slice(0, WIDTH).padEnd(WIDTH)}`);
};
