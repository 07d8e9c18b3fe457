import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/**
 * Lists every string of the code that a person can see, one a line: `src/file.ts:12<tab>text`, with `…` where a value is
 * put in. What is only ever compared, imported, a key or a type is left out, and so is SQL. Read it after changing words:
 * `npm run --silent strings`, or a part of it: `npm run --silent strings -- src/cli/commands/doctor`.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const parts = process.argv.slice(2);

const files = readdirSync(`${root}src`, { recursive: true })
  .map((file) => `src/${String(file).replaceAll('\\', '/')}`)
  .filter((file) => /\.ts$|(connect-codes|problems)\.json$/.test(file) && !/-table|migrations|place-names/.test(file))
  .filter((file) => parts.length === 0 || parts.some((part) => file.startsWith(part)))
  .sort();

for (const file of files) {
  const source = ts.createSourceFile(file, readFileSync(root + file, 'utf8'), ts.ScriptTarget.Latest, true);
  const visit = (node) => {
    if (isUnseen(node)) return;
    const text = textOf(node);
    if (text !== null && isSaid(text)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      process.stdout.write(`${file}:${line + 1}\t${text.replaceAll('\n', '\\n')}\n`);
    }
    node.forEachChild(visit);
  };
  visit(source);
}

function isUnseen(node) {
  return (
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    ts.isTypeNode(node) ||
    (ts.isCaseClause(node.parent ?? node) && node.parent.expression === node) ||
    (ts.isTaggedTemplateExpression(node) && node.tag.getText().startsWith('sql'))
  );
}

function textOf(node) {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return null;
  return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('');
}

/** Words, rather than a code, a path or a format. */
function isSaid(text) {
  const words = text.trim();
  return /[A-Za-z]{2,}[,.:;]? +[A-Za-z(…<"'`]|^[A-Z][a-z]+[.?!:]?$|^… [a-z]/.test(words);
}
