import type { ProblemCode } from '../../kernel/problems.ts';

/**
 * Connect's unary errors (CONTRACT, section 10): `{ code, message, detail }` with a code of Connect's own, so that a
 * stock client understands it. Our reason is `detail.reason`; never a field named `details`, which is Connect's.
 */
export const CONNECT_CODES = [
  'invalid_argument',
  'failed_precondition',
  'unauthenticated',
  'permission_denied',
  'not_found',
  'aborted',
  'unimplemented',
  'resource_exhausted',
  'internal',
  'unavailable',
] as const;
export type ConnectCode = (typeof CONNECT_CODES)[number];

export interface ConnectErrorBody {
  readonly code: ConnectCode;
  readonly message: string;
  readonly detail: { readonly reason: ProblemCode } & Readonly<Record<string, unknown>>;
}
