import type { Address } from '@solana/kit';
import bs58 from 'bs58';
import type { ChainAccount } from '../cluster.ts';
import { type LoadedAddresses, type ParsedMessage, type ParsedTransaction, refused } from './parse.ts';

export const LOOKUP_TABLE_PROGRAM = 'AddressLookupTab1e1111111111111111111111111' as Address;

/** A table keeps its addresses behind its own fields. */
const META_BYTES = 56;
const NEVER = 2n ** 64n - 1n;
/** A deactivated table can be used for as long as its slot is in the sysvar of slot hashes. */
const SLOT_HASHES = 512n;
/** Accounts that one transaction may lock. */
const MOST_LOCKED = 128;

interface LookupTable {
  readonly deactivationSlot: bigint;
  readonly lastExtendedSlot: bigint;
  /** How many addresses it had before it was last extended. */
  readonly lengthBefore: number;
  readonly authority: Address | null;
  readonly addresses: readonly Address[];
}

/** null where the data is not that of a table. */
export function decodeLookupTable(data: Uint8Array): LookupTable | null {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (data.length < META_BYTES || (data.length - META_BYTES) % 32 !== 0 || view.getUint32(0, true) !== 1)
    return null;
  const at = (offset: number) => bs58.encode(data.subarray(offset, offset + 32)) as Address;
  return {
    deactivationSlot: view.getBigUint64(4, true),
    lastExtendedSlot: view.getBigUint64(12, true),
    lengthBefore: data[20] ?? 0,
    authority: data[21] === 1 ? at(22) : null,
    addresses: Array.from({ length: (data.length - META_BYTES) / 32 }, (_, index) =>
      at(META_BYTES + index * 32),
    ),
  };
}

/** A transaction with the addresses that it takes from tables at its end, as the runtime orders them. */
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

/**
 * Looks up what a transaction takes from tables, by the rules of the runtime: an address can be used from the slot
 * after the one that it was added in.
 * @throws Problem `transaction_failed` for a table that is not there, or an index that is not in it
 */
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
