import { readFileSync } from 'node:fs';
import { browser } from './table/browser.mjs';
import { client } from './table/client.mjs';
import { desk } from './table/desk.mjs';
import { duffel } from './table/duffel.mjs';
import { effects } from './table/effects.mjs';
import { flights } from './table/flights.mjs';
import { partner } from './table/partner.mjs';
import { payments } from './table/payments.mjs';
import { storage } from './table/storage.mjs';

export const MUTANTS = [
  ...payments,
  ...effects,
  ...flights,
  ...client,
  ...partner,
  ...duffel,
  ...browser,
  ...storage,
  ...desk,
];

/** The replacements of a mutant: its one, or several that are one bug together. */
export const editsOf = ({ edits, from, to }) => edits ?? [[from, to]];

/** A file as a mutant makes it. @throws Error unless each text that it replaces is there exactly once */
export function mutated(root, mutant) {
  let text = readFileSync(new URL(mutant.file, root), 'utf8');
  for (const [from, to] of editsOf(mutant)) {
    const times = text.split(from).length - 1;
    if (times !== 1) throw new Error(`“${mutant.name}”: its text is ${times} times in ${mutant.file}`);
    text = text.replace(from, () => to);
  }
  return text;
}
