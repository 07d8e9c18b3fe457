import { missingNative } from '../kernel/native.ts';
import { isProblem, problem } from '../kernel/problems.ts';
import { withoutAddressKeys } from '../kernel/shown-url.ts';
import type { Streams } from '../terminal/streams.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { harmless, harmlessJson } from '../terminal/text.ts';
import { problemDocument, problemLines, type TypedNames } from './view/problem.ts';

/** Prints what a command failed with, once: one document under --json, lines for a person otherwise. @returns the exit code */
export function report(
  error: unknown,
  next: readonly string[],
  terminal: Terminal,
  streams: Streams,
  typed?: TypedNames,
): number {
  terminal.settle();
  const { json, verbose } = terminal.settings;
  const told = isProblem(error) ? error : missingNative(error);
  const shown =
    told ??
    problem('internal_error', {
      message: `Unexpected error: ${withoutAddressKeys(error instanceof Error ? error.message : String(error))}`,
      fix: 'Run it again with --verbose to see where.',
      cause: error,
    });
  if (json)
    streams.stdout.write(`${harmlessJson(problemDocument(shown, next), streams.stdout.isTTY ? 2 : 0)}\n`);
  else {
    const lines = problemLines(shown, terminal.asideScreen, next, typed);
    terminal.review(lines);
  }
  if (verbose) for (const line of stackLines(error)) terminal.trace(line);
  return shown.kind.exit;
}

function stackLines(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const own = (error.stack ?? '').split('\n').map(harmless);
  return error.cause === undefined ? own : [...own, 'caused by', ...stackLines(error.cause)];
}
