import { generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto';
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import {
  appendTransactionMessageInstructions,
  createTransactionMessage,
  generateKeyPairSigner,
  lamports,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { getCreateAccountInstruction } from '@solana-program/system';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenInstructionAsync,
  getInitializeMint2Instruction,
  getMintSize,
  getMintToInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import Sqlite from 'libsql';
import { LiteSVM } from 'litesvm';
import pg from 'pg';
import { line } from '../statistics.mjs';

/** What the parts that every paid call is made of can do at most here, one after the other on one thread. */
export const title = 'Limits of the machine';
export const rounds = 15;

const SIGNATURES = 400;
const TRANSFERS = 200;
const COMMITS = 100;

export async function run({ stage, stores, rounds, say }) {
  const all = [
    { name: 'Ed25519 signature checks', run: signatureChecks(), count: SIGNATURES },
    { name: 'LiteSVM token transfers', prepare: await transfers(), count: TRANSFERS, to: 0 },
    { name: 'fdatasync of 4 KB', run: syncs(stage), count: COMMITS },
    ...(await Promise.all(stores.map((store) => commits(stage, store)))),
  ];
  const rates = all.map(() => []);
  for (let round = -1; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`);
    for (const [place, one] of all.entries()) {
      const go = (await one.prepare?.()) ?? one.run;
      const began = performance.now();
      await go();
      const rate = one.count / ((performance.now() - began) / 1000);
      if (round >= 0) rates[place].push(rate);
    }
  }
  return all.map(({ name, to, store }, place) =>
    line(name, '/s', {
      store,
      values: rates[place],
      ...(to === undefined ? {} : { against: rates[to], to: all[to].name }),
    }),
  );
}

function signatureChecks() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const message = randomBytes(400);
  const signature = sign(null, message, privateKey);
  return () => {
    for (let i = 0; i < SIGNATURES; i++) verify(null, message, publicKey, signature);
  };
}

/** A transfer of a token with its two signatures, as a payment is; signed before the clock starts. */
async function transfers() {
  const svm = new LiteSVM();
  const [payer, owner, mint] = await Promise.all([1, 2, 3].map(() => generateKeyPairSigner()));
  for (const { address } of [payer, owner]) svm.airdrop(address, lamports(100_000_000_000n));
  const signed = (instructions) =>
    signTransactionMessageWithSigners(
      pipe(
        createTransactionMessage({ version: 0 }),
        (message) => setTransactionMessageFeePayerSigner(payer, message),
        (message) =>
          setTransactionMessageLifetimeUsingBlockhash(
            { blockhash: svm.latestBlockhash(), lastValidBlockHeight: 1_000_000n },
            message,
          ),
        (message) => appendTransactionMessageInstructions(instructions, message),
      ),
    );
  const accountOf = async (holder) =>
    (
      await findAssociatedTokenPda({ owner: holder.address, mint: mint.address, tokenProgram: TOKEN_PROGRAM_ADDRESS })
    )[0];
  const [source, destination] = [await accountOf(owner), await accountOf(payer)];
  const space = getMintSize();
  const setUp = await signed([
    getCreateAccountInstruction({
      payer,
      newAccount: mint,
      lamports: svm.minimumBalanceForRentExemption(BigInt(space)),
      space,
      programAddress: TOKEN_PROGRAM_ADDRESS,
    }),
    getInitializeMint2Instruction({ mint: mint.address, decimals: 6, mintAuthority: payer.address }),
    await getCreateAssociatedTokenInstructionAsync({ payer, mint: mint.address, owner: owner.address }),
    await getCreateAssociatedTokenInstructionAsync({ payer, mint: mint.address, owner: payer.address }),
    getMintToInstruction({ mint: mint.address, token: source, mintAuthority: payer, amount: 10n ** 15n }),
  ]);
  check(svm.sendTransaction(setUp));
  let amount = 0n;
  return async () => {
    const all = [];
    for (let i = 0; i < TRANSFERS; i++) {
      amount += 1n;
      const transfer = { source, destination, mint: mint.address, authority: owner, decimals: 6, amount };
      all.push(await signed([getTransferCheckedInstruction(transfer)]));
    }
    return () => {
      for (const one of all) check(svm.sendTransaction(one));
    };
  };
}

function check(result) {
  if ('err' in result) throw new Error(`a transaction failed: ${result}`);
}

function syncs(stage) {
  const file = openSync(join(stage.folder('sync'), 'file'), 'w');
  stage.keep(() => closeSync(file));
  const page = randomBytes(4096);
  let at = 0;
  return () => {
    for (let i = 0; i < COMMITS; i++) {
      writeSync(file, page, 0, page.length, at);
      at += page.length;
      fdatasyncSync(file);
    }
  };
}

/** A row a commit, each on the disk before the next one begins. */
async function commits(stage, store) {
  const name = `commits to the disk, ${store.name}`;
  const text = 'x'.repeat(200);
  if (store.name === 'libsql') {
    const database = new Sqlite(join(stage.folder('commits'), 'commits.db'));
    stage.keep(() => database.close());
    database.exec('pragma journal_mode = wal; pragma synchronous = full; create table t (a text)');
    const insert = database.prepare('insert into t values (?)');
    const run = () => {
      for (let i = 0; i < COMMITS; i++) insert.run(text);
    };
    return { name, run, count: COMMITS, to: 2 };
  }
  const client = new pg.Client({ connectionString: store.url });
  await client.connect();
  await client.query('create table if not exists bench_commits (a text)');
  stage.keep(async () => {
    await client.query('drop table bench_commits');
    await client.end();
  });
  const run = async () => {
    for (let i = 0; i < COMMITS; i++)
      await client.query({ name: 'one', text: 'insert into bench_commits values ($1)', values: [text] });
  };
  return { name, run, count: COMMITS, to: 2 };
}
