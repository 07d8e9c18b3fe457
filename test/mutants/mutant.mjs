import ts from 'typescript';
import { filesIn, sourceOf } from '../house.mjs';

export { MUTANTS } from './table.mjs';

/** What a mutant does to the declaration that it names; each finds its place by a name in it, not by a line of text. */
const KINDS = {
  /** The function returns this at once. */
  gives: (node, value) => bodyOf(node).map((one) => into(one, value)),
  /** The smallest condition that mentions the name is true. */
  believes: (node, name) => conditionsOn(node, name).map((one) => [one, 'true']),
  /** The smallest condition that mentions the name is false. */
  ignores: (node, name) => conditionsOn(node, name).map((one) => [one, 'false']),
  /** The function of this name is not called. */
  without: (node, callee) => callsOf(node, callee).map((one) => [one, '(undefined as never)']),
  /** The method of this name is not called with this first argument: its chain goes on without it. */
  drops: (node, [method, argument]) =>
    callsOf(node, method)
      .filter((one) => one.arguments[0]?.text === argument)
      .map((one) => [one, one.expression.expression.getText()]),
  /** The property is missing from its object. */
  leaves: (node, name) =>
    every(node, (one) => isProperty(one) && one.name.text === name).map((one) => [one, '...({})']),
  /** The constant has this value. */
  is: (node, value) => (node.initializer ? [[node.initializer, value]] : []),
  /** This is done before the last statement that calls the function of this name. */
  does: (node, [code, callee]) =>
    callsOf(node, callee)
      .slice(-1)
      .map((one) => {
        const statement = statementOf(one);
        return [statement, `${code}; ${statement.getText()}`];
      }),
};

/**
 * The file that a mutant changes, and its text then.
 * @throws Error unless exactly one declaration of that name in its room has the place that the mutant changes
 */
export function mutated(mutant) {
  const label = `“${mutant.name}”`;
  const kind = Object.keys(KINDS).find((one) => one in mutant);
  if (kind === undefined) throw new Error(`${label} does nothing`);
  const found = filesIn(`src/${mutant.in}`)
    .flatMap((file) => declarationsOf(sourceOf(file), mutant.of).map((node) => ({ file, node })))
    .map(({ file, node }) => ({ file, edits: KINDS[kind](node, mutant[kind]) }))
    .filter(({ edits }) => edits.length === (mutant.times ?? 1));
  if (found.length !== 1) {
    const places = found.map(({ file }) => file).join(', ') || 'nowhere';
    throw new Error(`${label}: ${mutant.of} of src/${mutant.in} is to fit once, and fits ${places}`);
  }
  const [{ file, edits }] = found;
  const text = [...edits]
    .sort(([one], [other]) => other.getStart() - one.getStart())
    .reduce((all, [one, to]) => all.slice(0, one.getStart()) + to + all.slice(one.end), sourceOf(file).text);
  return { file, text };
}

function every(node, fits) {
  const found = [];
  const visit = (one) => {
    if (fits(one)) found.push(one);
    ts.forEachChild(one, visit);
  };
  ts.forEachChild(node, visit);
  return found;
}

/** Functions, methods and constants of this name; `outer inner` is one within another. */
const declarationsOf = (source, names) =>
  names.split(' ').reduce((within, name) => within.flatMap((node) => declaredIn(node, name)), [source]);

const declaredIn = (node, name) =>
  every(
    node,
    (one) =>
      one.name?.text === name &&
      (((ts.isFunctionDeclaration(one) || ts.isFunctionExpression(one)) && one.body) ||
        ts.isMethodDeclaration(one) ||
        (ts.isVariableDeclaration(one) && one.initializer) ||
        (ts.isPropertyAssignment(one) && ts.isFunctionLike(one.initializer))),
  );

const isProperty = (one) => ts.isPropertyAssignment(one) || ts.isShorthandPropertyAssignment(one);

/** `send(…)` and `cluster.send(…)`; a name with a dot is the whole callee. */
const callsOf = (node, callee) =>
  every(node, (one) => {
    if (!ts.isCallExpression(one)) return false;
    const said = one.expression.getText().replaceAll('?.', '.');
    return said === callee || (!callee.includes('.') && said.endsWith(`.${callee}`));
  });

const COMPARES = new Set([
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
  ts.SyntaxKind.LessThanToken,
  ts.SyntaxKind.LessThanEqualsToken,
  ts.SyntaxKind.GreaterThanToken,
  ts.SyntaxKind.GreaterThanEqualsToken,
]);

/** A comparison; a call or a name that is a condition, or a part of one: the smallest that mentions all the names. */
function conditionsOn(node, names) {
  const isNamed = (one, name) => (ts.isIdentifier(one) || ts.isStringLiteral(one)) && one.text === name;
  const mentions = (one, name) => isNamed(one, name) || every(one, (part) => isNamed(part, name)).length > 0;
  const fits = every(node, (one) => {
    if (!names.split(' ').every((name) => mentions(one, name))) return false;
    if (ts.isBinaryExpression(one)) return COMPARES.has(one.operatorToken.kind);
    return isTruthTested(one) && !ts.isBinaryExpression(one) && !ts.isParenthesizedExpression(one);
  });
  return fits.filter((one) => !fits.some((other) => other !== one && one.pos <= other.pos && other.end <= one.end));
}

function isTruthTested(one) {
  const { parent } = one;
  if (ts.isIfStatement(parent) || ts.isConditionalExpression(parent))
    return (parent.expression ?? parent.condition) === one;
  if (ts.isPrefixUnaryExpression(parent)) return parent.operator === ts.SyntaxKind.ExclamationToken;
  return (
    ts.isBinaryExpression(parent) &&
    [ts.SyntaxKind.AmpersandAmpersandToken, ts.SyntaxKind.BarBarToken].includes(parent.operatorToken.kind)
  );
}

const functionOf = (node) =>
  ts.isFunctionLike(node) ? node : ts.isFunctionLike(node.initializer) ? node.initializer : null;
const bodyOf = (node) => [functionOf(node)?.body].filter(Boolean);
const into = (body, value) =>
  ts.isBlock(body)
    ? [body, `{ if (true) return ${value} as never; ${body.getText().slice(1)}`]
    : [body, `(${value} as never)`];

function statementOf(node) {
  for (let one = node; ; one = one.parent) if (ts.isBlock(one.parent)) return one;
}
