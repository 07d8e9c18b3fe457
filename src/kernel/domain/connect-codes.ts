import type { ProblemKind } from '../problems.ts';
import table from './connect-codes.json' with { type: 'json' };

/** Connect's codes, which the partner service answers with beside our own reason (CONTRACT, section 10). */
export const CONNECT_CODE_TABLE = table as Readonly<Record<string, ProblemKind>>;
