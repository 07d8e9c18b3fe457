import catalogue from './problems.json' with { type: 'json' };
import type { NextStep } from './shell-word.ts';
import { plainUsdc, type Usdc } from './usdc.ts';

/**
 * An expected failure. Its code is contractual (spec/flight-service.md, Errors; CONTRACT, sections 1, 7 and 15), its
 * words are for people. `status`: of HTTP, absent for the tool's own failures; `exit`: the tool's exit code.
 */
export interface ProblemKind {
  readonly status?: number;
  readonly exit: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 130;
  readonly message: string;
  readonly fix: string;
  readonly retryable?: true;
  /** The failed call cost nothing; a sentence after the fix says so. */
  readonly charged?: 'nothing';
  /** Next commands. `{}`: the value of an option of the failed command; `<>`: see `cli/interruption/failed.ts`. */
  readonly next?: readonly string[];
}

export type ProblemCode = keyof typeof catalogue;

export const PROBLEMS = catalogue as Readonly<Record<ProblemCode, ProblemKind>>;

type ProblemDetail = Record<string, unknown>;

/** A text, or a function that writes its amounts for the reader. */
export type Text = string | ((usdc: Usdc) => string);

/** The cost of the failed call: nothing, or nothing beyond the atomic USDC paid before it. */
export type Charged = 'nothing' | { readonly before: bigint };

export interface ProblemOptions {
  readonly message?: Text;
  readonly fix?: Text;
  /** Needed beside a `fix`; otherwise the catalogue's applies. */
  readonly charged?: Charged | undefined;
  readonly detail?: ProblemDetail;
  /** Seconds, for `Retry-After`. */
  readonly retryAfter?: number;
  readonly next?: readonly NextStep[];
  /** True for a Ctrl-C at an idle question. */
  readonly isAtQuestion?: true;
  readonly cause?: unknown;
}

export const textOf = (text: Text, usdc: Usdc = plainUsdc): string => (typeof text === 'string' ? text : text(usdc));

/** An expected failure, caught once at the edge (HTTP handler, command line). */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly fix: string;
  readonly charged: Charged | undefined;
  readonly detail: ProblemDetail | undefined;
  readonly retryAfter: number | undefined;
  readonly next: readonly NextStep[];

  constructor(
    readonly code: ProblemCode,
    readonly options: ProblemOptions = {},
  ) {
    const { message, fix, charged, cause } = options;
    const kind = PROBLEMS[code];
    super(textOf(message ?? kind.message), cause === undefined ? undefined : { cause });
    this.charged = charged ?? (fix === undefined ? kind.charged : undefined);
    this.fix = this.said(plainUsdc).fix;
    this.detail = options.detail;
    this.retryAfter = options.retryAfter;
    this.next = options.next ?? [];
  }

  get kind(): ProblemKind {
    return PROBLEMS[this.code];
  }

  get status(): number {
    return this.kind.status ?? 500;
  }

  said(usdc: Usdc): { readonly message: string; readonly fix: string } {
    const { message = this.kind.message, fix = this.kind.fix } = this.options;
    return { message: textOf(message, usdc), fix: withCharged(textOf(fix, usdc), this.charged, usdc) };
  }
}

function withCharged(fix: string, charged: Charged | undefined, usdc: Usdc): string {
  if (charged === undefined) return fix;
  const before = charged === 'nothing' ? '' : `; ${usdc(charged.before)} was paid before it`;
  return `${fix} This call cost nothing${before}.`.trimStart();
}

export const fixOf = ({ fix, charged }: ProblemKind): string => withCharged(fix, charged, plainUsdc);

export const problem = (code: ProblemCode, options?: ProblemOptions): Problem => new Problem(code, options);

type Words = Pick<ProblemOptions, 'message' | 'fix' | 'charged' | 'next' | 'detail'>;

/** Copies a problem with other words, details or next steps. */
export const reworded = (error: Problem, changes: Words): Problem =>
  new Problem(error.code, {
    ...error.options,
    ...(changes.fix !== undefined && { charged: undefined }),
    cause: error.cause ?? error,
    ...changes,
  });

export const isProblem = (error: unknown, ...codes: ProblemCode[]): error is Problem =>
  error instanceof Problem && (codes.length === 0 || codes.includes(error.code));

export const isProblemCode = (code: unknown): code is ProblemCode =>
  typeof code === 'string' && Object.hasOwn(PROBLEMS, code);

/** The flight service's error body (CONTRACT, section 1). */
export const problemBody = (error: Problem) => ({
  code: error.code,
  message: `${error.message} ${error.fix}`,
  ...(error.detail ? { detail: wireDetail(error.detail) } : {}),
});

const MOST_ISSUES = 20;
const MOST_PATH = 120;
const MOST_MESSAGE = 300;
const cut = (text: unknown, most: number): unknown =>
  typeof text === 'string' && text.length > most ? `${text.slice(0, most)}…` : text;

/** Limits a request's issues, counting the rest in `issues_omitted`: a small body must not get a large answer. */
export function wireDetail(detail: ProblemDetail): ProblemDetail {
  const { issues } = detail;
  if (!Array.isArray(issues)) return detail;
  const shown = issues
    .slice(0, MOST_ISSUES)
    .map((issue: { path?: unknown; message?: unknown }) => ({
      ...issue,
      path: cut(issue.path, MOST_PATH),
      message: cut(issue.message, MOST_MESSAGE),
    }));
  const omitted = issues.length - shown.length;
  return { ...detail, issues: shown, ...(omitted > 0 && { issues_omitted: omitted }) };
}
