import type { ProblemKind } from '../../../kernel/problems.ts';

/** The meaning of each exit code (CONTRACT, section 15): for scripts, and for the page about errors. */
export const EXIT_CODES: Readonly<Record<0 | ProblemKind['exit'], string>> = {
  0: 'done, including an empty list',
  1: 'unexpected failure',
  2: 'usage: unknown option, missing value, a question that was needed under `--no-input`',
  3: 'not found',
  4: 'not allowed: key, token, support code, keypair file',
  5: 'conflict: state, expired, repriced',
  6: 'payment: refused by policy, too little money, verification failed',
  7: 'network, timeout, upstream: worth trying again',
  8: 'it ended differently than asked: the booking was refunded, the order failed',
  130: 'interrupted; says how to continue',
};
