import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** From src/escrow/ in a checkout, from dist/ (or a folder in it) in the package. */
const CANDIDATES = ['../program/', '../../program/', '../../../program/'];

/** The built escrow program, program/escrow.so: what the embedded cluster loads. */
export function escrowElf(from: string = import.meta.url): Uint8Array {
  for (const folder of CANDIDATES) {
    const path = fileURLToPath(new URL(`${folder}escrow.so`, from));
    if (existsSync(path)) return new Uint8Array(readFileSync(path));
  }
  throw new Error('program/escrow.so is not in the package');
}
