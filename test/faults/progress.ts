// Prints a trial's progress on a terminal only.

export type Sayer = (text: string) => void;

const WIDTH = 60;

export const say: Sayer = (text) => {
  if (process.stderr.isTTY) process.stderr.write(`\r${text.slice(0, WIDTH).padEnd(WIDTH)}`);
};
