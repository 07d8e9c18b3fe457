import { type Address, getAddressDecoder, getBase58Decoder } from '@solana/kit';
import { SYSTEM_PROGRAM } from '../embedded/executor.ts';
import { ASSOCIATED_TOKEN_PROGRAM, MEMO_PROGRAM, TOKEN_PROGRAM } from '../token.ts';
import { uiAmount } from './ui-amount.ts';

interface FlatInstruction {
  readonly programId: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
  readonly stackHeight: number;
}

/**
 * An instruction as `jsonParsed` shows it. Those that move money or make accounts are spelled out; others keep
 * their bytes in base58, which the format allows for any program that the node cannot read.
 */
export function parsedInstruction(instruction: FlatInstruction): unknown {
  const { programId, accounts, data, stackHeight } = instruction;
  const program = PROGRAMS[programId];
  const parsed = program?.read(accounts, data);
  if (program && parsed) return { program: program.name, programId, parsed, stackHeight };
  return { programId, accounts, data: getBase58Decoder().decode(data), stackHeight };
}

type Read = (accounts: readonly string[], data: Uint8Array) => unknown;

const PROGRAMS: Readonly<Record<string, { readonly name: string; readonly read: Read }>> = {
  [SYSTEM_PROGRAM]: { name: 'system', read: system },
  [TOKEN_PROGRAM]: { name: 'spl-token', read: token },
  [ASSOCIATED_TOKEN_PROGRAM]: { name: 'spl-associated-token-account', read: associatedToken },
  [MEMO_PROGRAM]: { name: 'spl-memo', read: (_accounts, data) => Buffer.from(data).toString('utf8') },
};

function system([first, second]: readonly string[], data: Uint8Array): unknown {
  const view = viewOf(data);
  if (data.length === 12 && view.getUint32(0, true) === 2) {
    const info = { destination: second, lamports: view.getBigUint64(4, true), source: first };
    return { type: 'transfer', info };
  }
  if (data.length === 52 && view.getUint32(0, true) === 0) {
    const info = {
      lamports: view.getBigUint64(4, true),
      newAccount: second,
      owner: addressAt(data, 20),
      source: first,
      space: view.getBigUint64(12, true),
    };
    return { type: 'createAccount', info };
  }
  return null;
}

function token(accounts: readonly string[], data: Uint8Array): unknown {
  const view = viewOf(data);
  const [a, b, c, d] = accounts;
  const amount = () => (data.length >= 9 ? view.getBigUint64(1, true) : 0n);
  const checked = () => uiAmount(amount(), data[9] ?? 0);
  switch (data[0]) {
    case 3:
      return { type: 'transfer', info: { amount: `${amount()}`, authority: c, destination: b, source: a } };
    case 7:
      return { type: 'mintTo', info: { account: b, amount: `${amount()}`, mint: a, mintAuthority: c } };
    case 8:
      return { type: 'burn', info: { account: a, amount: `${amount()}`, authority: c, mint: b } };
    case 9:
      return { type: 'closeAccount', info: { account: a, destination: b, owner: c } };
    case 12:
      return {
        type: 'transferChecked',
        info: { authority: d, destination: c, mint: b, source: a, tokenAmount: checked() },
      };
    case 14:
      return {
        type: 'mintToChecked',
        info: { account: b, mint: a, mintAuthority: c, tokenAmount: checked() },
      };
    case 18:
      return data.length >= 33
        ? { type: 'initializeAccount3', info: { account: a, mint: b, owner: addressAt(data, 1) } }
        : null;
    case 22:
      return { type: 'initializeImmutableOwner', info: { account: a } };
    default:
      return null;
  }
}

function associatedToken(accounts: readonly string[], data: Uint8Array): unknown {
  const type = data.length === 0 || data[0] === 0 ? 'create' : data[0] === 1 ? 'createIdempotent' : null;
  const [source, account, wallet, mint, systemProgram, tokenProgram] = accounts;
  return type && { type, info: { account, mint, source, systemProgram, tokenProgram, wallet } };
}

const viewOf = (data: Uint8Array) => new DataView(data.buffer, data.byteOffset, data.byteLength);
const addressAt = (data: Uint8Array, offset: number): Address => getAddressDecoder().decode(data, offset);
