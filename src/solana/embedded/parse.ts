import type { Address, Signature } from '@solana/kit';
import bs58 from 'bs58';
import type { ChainAccount } from '../cluster.ts';
import { verifyEd25519 } from '../signer.ts';
import { addressAt, viewOf } from '../token.ts';
import { MOST_TRANSACTION_BYTES, refused } from '../transaction.ts';

// bs58 and our own reader take a twentieth of the time that kit's codecs take, in every send.

/** The accounts that one byte can point at. */
const MOST_ACCOUNTS = 256;

export type ParsedMessage = ReturnType<typeof parseMessage>;

export interface LoadedAddresses {
  readonly writable: readonly Address[];
  readonly readonly: readonly Address[];
}

export const NONE_LOADED: LoadedAddresses = { writable: [], readonly: [] };

/** A well-formed legacy or version 0 transaction. */
export interface ParsedTransaction extends ParsedMessage {
  readonly wire: Uint8Array;
  readonly signature: Signature;
  /** 64 bytes each, in key order; zeros where missing. */
  readonly signatures: readonly Uint8Array[];
}

/** Reads wire bytes strictly: LiteSVM aborts the process on other bytes. @throws Problem `transaction_failed` */
export function parseTransaction(wire: Uint8Array): ParsedTransaction {
  if (wire.length > MOST_TRANSACTION_BYTES) {
    throw refused('SanitizeFailure', `it has ${wire.length} bytes, more than ${MOST_TRANSACTION_BYTES}`);
  }
  const reader = byteReader(wire);
  const signatures = reader.list(() => reader.take(64));
  const message = parseMessage(reader.rest());
  const [first] = signatures;
  if (!first || signatures.length !== message.header.numRequiredSignatures) throw malformed();
  return { wire, signature: bs58.encode(first) as Signature, signatures, ...message };
}

/** Reads a bare message, as getFeeForMessage takes it. */
export function parseMessage(messageBytes: Uint8Array) {
  const reader = byteReader(messageBytes);
  const isLegacy = ((messageBytes[0] ?? 0) & 0x80) === 0;
  if (!isLegacy && reader.byte() !== 0x80) {
    throw refused('UnsupportedVersion', 'its version is neither legacy nor 0');
  }
  const header = {
    numRequiredSignatures: reader.byte(),
    numReadonlySignedAccounts: reader.byte(),
    numReadonlyUnsignedAccounts: reader.byte(),
  };
  const keyBytes = reader.list(() => reader.take(32));
  const blockhash = bs58.encode(reader.take(32));
  const instructions = reader.list(() => ({
    programIdIndex: reader.byte(),
    accounts: reader.list(() => reader.byte()),
    data: reader.bytes(),
  }));
  const lookups = isLegacy
    ? []
    : reader.list(() => ({
        table: bs58.encode(reader.take(32)) as Address,
        writable: reader.list(() => reader.byte()),
        readonly: reader.list(() => reader.byte()),
      }));
  const loadedCount = lookups.reduce((sum, one) => sum + one.writable.length + one.readonly.length, 0);
  const accountKeys = keyBytes.map((bytes) => bs58.encode(bytes) as Address);
  const isWellFormed =
    reader.rest().length === 0 &&
    header.numRequiredSignatures >= 1 &&
    header.numReadonlySignedAccounts < header.numRequiredSignatures &&
    header.numRequiredSignatures + header.numReadonlyUnsignedAccounts <= accountKeys.length &&
    new Set(accountKeys).size === accountKeys.length &&
    instructions.every(
      ({ programIdIndex, accounts }) =>
        programIdIndex > 0 &&
        programIdIndex < accountKeys.length &&
        accounts.every((index) => index < accountKeys.length + loadedCount),
    ) &&
    lookups.every(({ writable, readonly }) => writable.length + readonly.length > 0) &&
    accountKeys.length + loadedCount <= MOST_ACCOUNTS;
  if (!isWellFormed) throw malformed();
  const version: 'legacy' | 0 = isLegacy ? 'legacy' : 0;
  return {
    ...{ messageBytes, version, header, blockhash, instructions },
    /** Static addresses, then loaded ones. */
    accountKeys,
    keyBytes,
    lookups,
    loaded: NONE_LOADED,
  };
}

export function wrongSignatures(transaction: ParsedTransaction): Address[] {
  const { signatures, keyBytes, messageBytes, accountKeys } = transaction;
  return accountKeys.filter((_key, index) => {
    const [signature, key] = [signatures[index], keyBytes[index]];
    return signature && key && !verifyEd25519(key, messageBytes, signature);
  });
}

export function isWritable(message: ParsedMessage, index: number): boolean {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = message.header;
  const { writable, readonly } = message.loaded;
  const named = message.accountKeys.length - writable.length - readonly.length;
  if (index >= named) return index < named + writable.length;
  return index < numRequiredSignatures
    ? index < numRequiredSignatures - numReadonlySignedAccounts
    : index < named - numReadonlyUnsignedAccounts;
}

const malformed = () => refused('SanitizeFailure', 'its bytes are not a transaction');

function byteReader(source: Uint8Array) {
  let at = 0;
  const take = (count: number): Uint8Array => {
    if (at + count > source.length) throw malformed();
    at += count;
    return source.subarray(at - count, at);
  };
  const byte = (): number => take(1)[0] ?? 0;
  const length = (): number => {
    const low = byte();
    if (low < 0x80) return low;
    // A third byte would exceed a packet.
    const high = byte();
    if (high === 0 || high >= 0x80) throw malformed();
    return (low & 0x7f) | (high << 7);
  };
  const list = <T>(read: () => T): T[] => {
    const items: T[] = [];
    for (let left = length(); left > 0; left--) items.push(read());
    return items;
  };
  return { take, byte, list, bytes: () => take(length()), rest: () => source.subarray(at) };
}

export const LOOKUP_TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111' as Address;

/** Bytes before a table's addresses. */
const META_BYTES = 56;

const NEVER = 2n ** 64n - 1n;

/** A deactivated table can be used for as long as its slot is in the sysvar of slot hashes. */
const SLOT_HASHES = 512n;

const MOST_LOCKED = 128;

/** Reads a table and its length before the last extension; null for other data. */
export function decodeLookupTable(data: Uint8Array) {
  const view = viewOf(data);
  if (data.length < META_BYTES || (data.length - META_BYTES) % 32 !== 0 || view.getUint32(0, true) !== 1) return null;
  const count = (data.length - META_BYTES) / 32;
  return {
    deactivationSlot: view.getBigUint64(4, true),
    lastExtendedSlot: view.getBigUint64(12, true),
    lengthBefore: data[20] ?? 0,
    authority: data[21] === 1 ? addressAt(data, 22) : null,
    addresses: Array.from({ length: count }, (_, index) => addressAt(data, META_BYTES + index * 32)),
  };
}

/** Adds the addresses loaded from tables, in the runtime's order. */
export function withLoaded<T extends ParsedMessage>(message: T, loaded: LoadedAddresses): T {
  const keys = [...loaded.writable, ...loaded.readonly];
  if (keys.length === 0) return message;
  return {
    ...message,
    loaded,
    accountKeys: [...message.accountKeys, ...keys],
    keyBytes: [...message.keyBytes, ...keys.map((key) => bs58.decode(key))],
  };
}

/** Looks up addresses of tables, usable from the slot after they were added. @throws Problem `transaction_failed` */
export function lookedUp(
  transaction: ParsedTransaction,
  read: (address: Address) => ChainAccount | null,
  slot: number,
): ParsedTransaction {
  if (transaction.lookups.length === 0) return transaction;
  const loaded = { writable: [] as Address[], readonly: [] as Address[] };
  for (const { table: address, ...indexes } of transaction.lookups) {
    const usable = usableAddresses(address, read(address), BigInt(slot));
    const at = (index: number): Address => {
      const found = usable[index];
      if (!found) throw refused('InvalidAddressLookupTableIndex', `${address} has no address ${index} yet`);
      return found;
    };
    loaded.writable.push(...indexes.writable.map(at));
    loaded.readonly.push(...indexes.readonly.map(at));
  }
  const whole = withLoaded(transaction, loaded);
  if (new Set(whole.accountKeys).size !== whole.accountKeys.length)
    throw refused('AccountLoadedTwice', 'it names an account that it also loads from a table');
  if (whole.accountKeys.length > MOST_LOCKED)
    throw refused('TooManyAccountLocks', `it uses more than ${MOST_LOCKED} accounts`);
  return whole;
}

function usableAddresses(address: Address, account: ChainAccount | null, slot: bigint): readonly Address[] {
  if (!account) throw refused('AddressLookupTableNotFound', `there is no address lookup table at ${address}`);
  if (account.owner !== LOOKUP_TABLE_PROGRAM)
    throw refused('InvalidAddressLookupTableOwner', `${address} is no address lookup table`);
  const table = decodeLookupTable(account.data);
  if (!table) throw refused('InvalidAddressLookupTableData', `${address} is no address lookup table`);
  if (table.deactivationSlot !== NEVER && slot - table.deactivationSlot > SLOT_HASHES)
    throw refused('AddressLookupTableNotFound', `the address lookup table ${address} is deactivated`);
  return slot > table.lastExtendedSlot ? table.addresses : table.addresses.slice(0, table.lengthBefore);
}
