import { didYouMeanOneOf, nearest } from '../../../kernel/nearest.ts';
import { PROBLEMS, type Problem, type ProblemKind, problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import { fieldLines, type View } from '../../../terminal/index.ts';
import type { Run } from '../../spec/index.ts';
import { explainedCodes, explanationOf } from './index.ts';
import type * as spec from './spec.ts';

/** The meaning of each exit code (CONTRACT, section 15), for the page about errors too. */
export const EXIT_CODES: Readonly<Record<0 | ProblemKind['exit'], string>> = {
  0: 'done, including an empty list',
  1: 'unexpected failure',
  2: 'usage: unknown option, missing value, or `--no-input` where an answer is needed',
  3: 'not found',
  4: 'not allowed: key, token, support code, keypair file',
  5: 'conflict: state, expired, repriced',
  6: 'payment: refused by policy, too little money, verification failed',
  7: 'network, timeout, upstream: worth trying again',
  8: 'it ended differently than asked: the booking was refunded, the order failed',
  130: 'interrupted; says how to continue',
};

/** @throws Problem `not_found` naming similar codes */
export const explain: Run<typeof spec.explain> = async ({ terminal }, { code, more }) => {
  const given = [code, ...more].join(' ');
  const wanted = given
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
  const found = explanationOf(wanted);
  if (!found) throw /^\d+$/.test(wanted) ? sharedBy(wanted) : unknownCode(given, wanted);
  terminal.result(found, explanationView);
  return 0;
};

function unknownCode(given: string, wanted: string): Problem {
  const near = nearest(wanted, explainedCodes(), 5);
  const meant = near.length > 0 ? near : withMostWordsOf(wanted).slice(0, 5);
  return problem('not_found', {
    message: `There is no error code "${given}".`,
    fix: didYouMeanOneOf(meant) || 'Use the code of an error, such as offer_expired.',
    next: meant.slice(0, 1).map((known) => farelock`explain ${known}`),
  });
}

function withMostWordsOf(sentence: string): string[] {
  const words = new Set(sentence.split('_'));
  const shared = (code: string) => code.split('_').filter((word) => words.has(word)).length;
  const most = Math.max(...explainedCodes().map(shared));
  return most === 0 ? [] : explainedCodes().filter((code) => shared(code) === most);
}

/** A problem that lists the error codes with this HTTP status or exit code. */
function sharedBy(number: string): Problem {
  const meaning = new Map(Object.entries(EXIT_CODES)).get(number);
  const [first, ...others] = Object.entries(PROBLEMS)
    .filter(([, { status, exit }]) => [status, exit].includes(Number(number)))
    .map(([code]) => code);
  const known = [first, ...others.slice(0, 4)].join(', ');
  const rest = others.length > 4 ? ` and ${others.length - 4} more` : '';
  return problem('not_found', {
    message: meaning ? `Exit code ${number}: ${meaning.replaceAll('`', '')}.` : `${number} is not an error code.`,
    fix: first ? `Errors with it: ${known}${rest}.` : 'Use the code of an error, such as offer_expired.',
    next: first ? [farelock`explain ${first}`] : [],
  });
}

const explanationView: View<NonNullable<ReturnType<typeof explanationOf>>> = {
  lines: (explanation, { paint }) => [
    paint.bold(explanation.code),
    explanation.message,
    explanation.fix,
    ...explanation.next.map((line) => paint.accent(`$ ${line}`)),
    '',
    ...fieldLines(paint.dim, [
      ['HTTP status', explanation.status === null ? null : String(explanation.status)],
      ['Exit code', `${explanation.exit}: ${EXIT_CODES[explanation.exit].replaceAll('`', '')}`],
      ['Try again', explanation.retryable ? 'yes, the same command' : 'no, something must change first'],
    ]),
  ],
};
