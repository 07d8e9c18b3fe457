import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** From src/escrow/ in a checkout, from dist/ (or a folder in it) in the package. */
const CANDIDATES = ['../program/', '../../program/', '../../../program/'];

/** sha256 of the escrow programs that were shipped before: an embedded ledger that carries one gets today's. */
export const EARLIER_ESCROW_ELFS = [
  // 0.1.0: without Recover, and every Close after 30 days.
  '6564e6bca907494401438f65838c3b87b0456b6ddeb01bb25da3e7c8ee55679b',
  // Without authorizations and captures in part: linked as SBPF version 0, then as version 3.
  '21773a78a11bc2f263a4acfe66ffa782d734d062e2efd93002b35f2b128cb46c',
  '50a5aa7d99597c08d49ec3703df112542e4c7901749b24409c638c2aac27eb9e',
] as const;

/**
 * The program before today's: with the same promises to payers, but without authorizations and captures in part. It
 * stays trusted, because a deployment may be final or have no room for today's.
 */
export const PREVIOUS_ESCROW = { sha256: EARLIER_ESCROW_ELFS[2], bytes: 14_632 } as const;

/** The built escrow program, program/escrow.so: what the embedded cluster loads. */
export function escrowElf(from: string = import.meta.url): Uint8Array {
  for (const folder of CANDIDATES) {
    const path = fileURLToPath(new URL(`${folder}escrow.so`, from));
    if (existsSync(path)) return new Uint8Array(readFileSync(path));
  }
  throw new Error('program/escrow.so is not in the package');
}
