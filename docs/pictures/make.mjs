// npm run picture: the pictures of the README, from real sessions of the built tool. Each runs in a terminal (a PTY), a
// terminal emulator draws what it prints, and the cells of the emulator become an SVG: a still one, or a recording.
//   node docs/pictures/make.mjs [folder] [picture ...]
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { desk } from './desk.mjs';
import { guided } from './guided.mjs';
import { session } from './session.mjs';

const PICTURES = { session, guided, desk };
const [folder = import.meta.dirname, ...names] = process.argv.slice(2);

for (const [name, draw] of Object.entries(PICTURES)) {
  if (names.length > 0 && !names.includes(name)) continue;
  writeFileSync(join(resolve(folder), `${name}.svg`), await draw());
}
