import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** The titles of the tests in a source file, without running it. */

export interface Titled {
  /** Titles of the describes around it, then its own; `%s` and `$name` of an `each` stand as they are written. */
  readonly path: readonly string[];
  /** Neither it nor a describe around it is skipped, to do, or run under a condition. */
  readonly runs: boolean;
  /** What it does, with the table of its `each`. */
  readonly source: string;
}

export interface TestFile {
  readonly tests: readonly Titled[];
  /** Every string and number in the source: what a placeholder of a title may stand for. */
  readonly literals: ReadonlySet<string>;
}

export function testsIn(file: string): TestFile {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const tests: Titled[] = [];
  const literals = new Set<string>();
  const visit = (node: ts.Node, around: Titled): void => {
    if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) literals.add(node.text);
    if (node.kind === ts.SyntaxKind.TrueKeyword) literals.add('true');
    if (node.kind === ts.SyntaxKind.FalseKeyword) literals.add('false');
    const call = ts.isCallExpression(node) ? declared(node) : null;
    if (!call) {
      ts.forEachChild(node, (child) => visit(child, around));
      return;
    }
    const here = { path: [...around.path, call.title], runs: around.runs && call.runs, source: node.getText(source) };
    if (call.kind === 'test') tests.push(here);
    ts.forEachChild(node, (child) => visit(child, call.kind === 'describe' ? here : around));
  };
  visit(source, { path: [], runs: true, source: '' });
  return { tests, literals };
}

/** `test('…')`, `test.each(…)('…')`, `describe.skip('…')`: what it is, and whether it would run. */
function declared(node: ts.CallExpression): { kind: 'test' | 'describe'; title: string; runs: boolean } | null {
  const words: string[] = [];
  let callee: ts.Expression = node.expression;
  for (;;) {
    if (ts.isPropertyAccessExpression(callee)) {
      words.push(callee.name.text);
      callee = callee.expression;
    } else if (ts.isCallExpression(callee)) callee = callee.expression;
    else break;
  }
  if (!ts.isIdentifier(callee)) return null;
  const kind = ['test', 'it'].includes(callee.text) ? 'test' : callee.text === 'describe' ? 'describe' : null;
  const title = node.arguments[0] && textOf(node.arguments[0]);
  if (kind === null || title === undefined || title === null || node.arguments.length < 2) return null;
  return { kind, title, runs: !words.some((word) => ['skip', 'todo', 'skipIf', 'runIf', 'fails'].includes(word)) };
}

function textOf(node: ts.Expression): string | null {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return null;
  return node.head.text + node.templateSpans.map((span) => `%s${span.literal.text}`).join('');
}

/**
 * The test that a name means: its title, or its describes and title joined by ` › `. What stands in the place of a
 * placeholder must occur in the source.
 */
export function testNamed(file: TestFile, name: string): Titled | undefined {
  return file.tests.find(({ path }) =>
    path.some((_, from) => {
      const title = path.slice(from).join(' › ');
      const found = new RegExp(`^${patternOf(title)}$`).exec(name);
      return found?.slice(1).every((part) => file.literals.has(part)) ?? false;
    }),
  );
}

const patternOf = (title: string): string =>
  title
    .split(/(%[sidfjop]|\$\w+)/)
    .map((part, index) => (index % 2 === 1 ? '(.+?)' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
    .join('');
