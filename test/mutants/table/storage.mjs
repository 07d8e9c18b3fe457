// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are source
/** What is on the disk before it is acted on. @type {import('../mutant.d.mts').Mutant[]} */
export const storage = [
  {
    name: 'a database file is never waited for',
    file: 'src/store/libsql/file.ts',
    from: 'pragma synchronous = full;',
    to: 'pragma synchronous = off;',
    by: ['test/store/syncs.test.ts'],
  },
  {
    name: 'a journal is moved into its file without waiting for the disk',
    file: 'src/store/libsql/driver.ts',
    from: 'pragma synchronous = normal',
    to: 'pragma synchronous = off',
    by: ['test/store/syncs.test.ts'],
  },
  {
    name: "the ledger's journal is moved into its file without waiting for the disk",
    file: 'src/solana/embedded/ledger-file.ts',
    from: 'pragma synchronous = normal',
    to: 'pragma synchronous = off',
    by: ['test/store/syncs.test.ts'],
  },
  {
    name: 'a transaction is said to have landed before it is on the disk',
    file: 'src/solana/embedded/landings.ts',
    from: 'file.disk.sync().then(',
    to: 'Promise.resolve().then(',
    by: ['test/store/syncs.test.ts', 'test/store/costs.test.ts'],
  },
  {
    name: 'a write that gives rows back waits for no disk',
    file: 'src/store/libsql/group-commit.ts',
    from: '(changes === null ? rows.length > 0 : changes > 0)',
    to: '(changes !== null && changes > 0)',
    by: ['test/store/syncs.test.ts', 'test/sim/simulator.test.ts'],
  },
  {
    name: 'a write in a transaction waits for no disk',
    file: 'src/store/libsql/group-commit.ts',
    from: 'group.isDirty ||= mustLast(statement, ran);',
    to: '',
    by: ['test/store/syncs.test.ts'],
  },
  {
    name: 'the row of the bytes that were signed may be lost',
    file: 'src/payments/settling.ts',
    from: `    ...kept?.change,
  });
  return { row: signed, kept };`,
    to: `    ...kept?.change,
  }, REGAINED);
  return { row: signed, kept };`,
    by: ['test/store/costs.test.ts', 'test/sim/simulator.test.ts'],
  },
  {
    name: 'a payment leaves before the journal has it',
    file: 'src/client/journal/payments-store.ts',
    from: 'const written = await insert(tx, ports, payment, id);',
    to: 'const written = await insert(regained(tx), ports, payment, id);',
    by: ['test/store/syncs.test.ts', 'test/sim/simulator.test.ts'],
  },
  {
    name: 'an attempt on the cluster is sent before it is on the disk',
    file: 'src/effects/effects.ts',
    edits: [
      [
        `  const written = await on
    .insertInto('effects')`,
        `  const written = await regained(on)
    .insertInto('effects')`,
      ],
      [
        "import type { Signer } from '../solana/signer.ts';",
        "import type { Signer } from '../solana/signer.ts';\nimport { regained } from '../store/regained.ts';",
      ],
    ],
    by: ['test/store/costs.test.ts'],
  },
  {
    name: 'a database without a free connection has refused the statement',
    file: 'src/store/postgres/refusal.ts',
    from: '25P03|53300|08',
    to: '25P03|08',
    by: ['test/store/trouble.test.ts'],
  },
  {
    name: 'a key has its name before it is on the disk',
    file: 'src/kernel/secrets.ts',
    from: `        fsyncSync(file);
`,
    to: '',
    by: ['test/kernel/private-files.test.ts'],
  },
  {
    name: 'a pay-out goes to the wallet that paid',
    file: 'src/flights/refunds/carry-out.ts',
    from: 'to: intent.refund_wallet,',
    to: 'to: intent.funding_wallet,',
    by: ['test/flights/operator.test.ts'],
  },
  {
    name: 'a connection goes back to the pool within a transaction',
    file: 'src/store/postgres/open.ts',
    from: '      await this.rollbackTransaction(connection);\n',
    to: '',
    by: ['test/store/postgres/silence.test.ts'],
  },
  {
    name: 'a connection that fell silent is used again',
    file: 'src/store/postgres/open.ts',
    from: 'if (error instanceof Error && isSilence(error)) silent = error;',
    to: '',
    by: ['test/store/postgres/silence.test.ts'],
  },
];
