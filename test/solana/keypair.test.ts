import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createSignableMessage,
  getAddressEncoder,
  getBase58Decoder,
  isMessagePartialSigner,
  isMessageSigner,
  isTransactionPartialSigner,
  isTransactionSigner,
} from '@solana/kit';
import { Keypair } from '@solana/web3.js';
import { toClientSvmSigner } from '@x402/svm';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isProblem, type Problem } from '../../src/kernel/problems.ts';
import { createKeypairFile, readKeypair } from '../../src/solana/keypair.ts';
import { verifyEd25519 } from '../../src/solana/signer.ts';

let folder: string;
const at = (name: string) => join(folder, name);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'farelock-keypair-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const other = Keypair.fromSeed(new Uint8Array(32).fill(7));
const base58 = getBase58Decoder().decode(other.secretKey);

function write(name: string, content: string, mode = 0o600): string {
  writeFileSync(at(name), content, { mode });
  chmodSync(at(name), mode);
  return at(name);
}
function problemOf(run: () => unknown): Problem {
  try {
    run();
  } catch (error) {
    if (isProblem(error)) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('a new keypair file', () => {
  it('is private, in the form of the Solana CLI, and reads back as the same wallet', () => {
    const made = createKeypairFile(at('wallet.json'));
    expect(statSync(at('wallet.json')).mode & 0o777).toBe(0o600);
    const bytes = Uint8Array.from(JSON.parse(readFileSync(at('wallet.json'), 'utf8')) as number[]);
    expect(Keypair.fromSecretKey(bytes).publicKey.toBase58()).toBe(made.address);
    expect(readKeypair(at('wallet.json')).address).toBe(made.address);
  });

  it('is never written over another', () => {
    const made = createKeypairFile(at('wallet.json'));
    expect(problemOf(() => createKeypairFile(at('wallet.json'))).code).toBe('keypair_exists');
    expect(readKeypair(at('wallet.json')).address).toBe(made.address);
  });
});

describe('reading a keypair', () => {
  it('takes a JSON array, base58 text, and standard input', () => {
    const json = JSON.stringify([...other.secretKey]);
    const address = other.publicKey.toBase58();
    expect(readKeypair(write('a', json)).address).toBe(address);
    expect(readKeypair(write('b', ` ${base58}\n`)).address).toBe(address);
    expect(readKeypair('-', { stdin: () => `${json}\n` }).address).toBe(address);
  });

  it('refuses a file that others can read, and says what to do', () => {
    for (const mode of [0o640, 0o604, 0o660, 0o644]) {
      const path = write('open', base58, mode);
      const refused = problemOf(() => readKeypair(path));
      expect(refused.code).toBe('keypair_unreadable');
      expect(refused.fix).toContain(`chmod 600 ${path}`);
    }
  });

  it('refuses it behind a symbolic link too', () => {
    symlinkSync(write('open', base58, 0o644), at('link'));
    expect(problemOf(() => readKeypair(at('link'))).code).toBe('keypair_unreadable');
  });

  it('says that there is no wallet where there is no file', () => {
    expect(problemOf(() => readKeypair(at('nothing'))).code).toBe('no_wallet');
    expect(problemOf(() => readKeypair(folder)).code).toBe('keypair_unreadable');
  });

  it('refuses garbage, wrong lengths and a public half of another key, and repeats nothing of it', () => {
    const mixed = [...other.secretKey.slice(0, 32), ...Keypair.generate().publicKey.toBytes()];
    const secrets = [
      JSON.stringify(mixed),
      JSON.stringify([...other.secretKey.slice(0, 32)]),
      JSON.stringify([...other.secretKey, 1]),
      JSON.stringify([...other.secretKey.slice(0, 63), 256]),
      JSON.stringify([...other.secretKey.slice(0, 63), '1']),
      JSON.stringify([...other.secretKey]).slice(0, -1),
      base58.slice(0, -1),
      `${base58.slice(0, -1)}0`,
      '{"secret":"hunter2"}',
      '',
      'x'.repeat(5000),
    ];
    for (const secret of secrets) {
      const path = write('bad', secret);
      const refused = problemOf(() => readKeypair(path));
      expect(refused.code).toBe('keypair_unreadable');
      const told = `${refused.message} ${refused.fix} ${JSON.stringify(refused.detail)} ${refused.cause ?? ''}`;
      expect(told).not.toMatch(/hunter2|\d+,\d+,\d+/);
      if (secret) expect(told).not.toContain(secret.slice(0, 12));
    }
  });
});

describe('the signer', () => {
  it('is one that kit and x402 accept, and signs as others verify', async () => {
    const signer = readKeypair(write('a', base58));
    expect(isTransactionPartialSigner(signer) && isTransactionSigner(signer)).toBe(true);
    expect(isMessagePartialSigner(signer) && isMessageSigner(signer)).toBe(true);
    expect(new ExactSvmScheme(toClientSvmSigner(signer)).scheme).toBe('exact');
    const [signed] = await signer.signMessages([createSignableMessage('fare')]);
    const signature = signed?.[signer.address] ?? new Uint8Array();
    const key = new Uint8Array(getAddressEncoder().encode(signer.address));
    expect(verifyEd25519(key, Buffer.from('fare'), signature)).toBe(true);
    expect(verifyEd25519(key, Buffer.from('fair'), signature)).toBe(false);
  });

  it('does not give its secret away', () => {
    const signer = readKeypair(write('a', base58));
    expect(Object.keys(signer).sort()).toEqual(['address', 'sign', 'signMessages', 'signTransactions']);
    expect(JSON.stringify(signer)).toBe(JSON.stringify({ address: signer.address }));
  });
});

describe('signature verification', () => {
  it('refuses keys of small order, for which anybody could sign anything', () => {
    const identity = new Uint8Array(32);
    identity[0] = 1;
    // With the identity as key and as point, and zero as scalar, the bare equation holds for every message.
    const forged = new Uint8Array(64);
    forged[0] = 1;
    expect(verifyEd25519(identity, Buffer.from('anything'), forged)).toBe(false);
    expect(verifyEd25519(new Uint8Array(32), Buffer.from('anything'), forged)).toBe(false);
  });
});
