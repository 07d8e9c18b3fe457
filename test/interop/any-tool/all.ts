import { kitReads } from './kit-reads.ts';
import { kitHears, kitSends } from './kit-sends.ts';
import type { Call } from './scene.ts';
import { tokenClient } from './token-client.ts';
import { web3Hears } from './web3-hears.ts';
import { web3Old, web3Reads } from './web3-reads.ts';
import { web3Sends } from './web3-sends.ts';

/** Every call of a stock client that is made against `farelock serve`. */
export const ALL: readonly Call[] = [
  ...web3Reads,
  ...web3Sends,
  ...web3Hears,
  ...web3Old,
  ...kitReads,
  ...kitSends,
  ...kitHears,
  ...tokenClient,
];

/** docs/solana-calls.md */
export function solanaCallsPage(): string {
  const works = ALL.filter(({ refused }) => !refused).length;
  const rows = ALL.map(
    ({ client, name, refused }) => `| ${client} | ${name} | ${refused ? `no: ${refused}` : 'yes'} |`,
  );
  return `# Calls of Solana's clients

<!-- Made by \`npm run docs\`. Change the source, not this page. -->

\`test/interop/any-tool.test.ts\` makes these calls against the built \`farelock serve\`, over real sockets, with clients as
they are published. ${works} of ${ALL.length} work; each of the others says why it does not. \`@solana/spl-token\` is not among the packages of this
repository: the token client of kit (\`@solana-program/token\`) does what its helpers do.
[solana-tools.md](solana-tools.md) says how to point a tool at it.

| Client | Call | Works |
| --- | --- | --- |
${rows.join('\n')}
`;
}
