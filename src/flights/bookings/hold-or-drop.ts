/** How something paid is put on record while others may hold its place. */
interface Place<Holder> {
  /** Writes it, unless somebody holds the place: then the holder. One transaction. */
  insertUnlessHeld(): Promise<Holder | null>;
  /** Drops a holder whose payment has failed for certain; false while it may still be paid, or is. */
  dropUnpaid(holder: Holder): Promise<boolean>;
  /** Why the holder cannot give way. */
  refusal(holder: Holder): Promise<Error> | Error;
}

/**
 * Writes something down before its money moves: a crash right after settlement then loses nothing, and a second payment
 * for the same place is refused before it is settled. A holder that died unpaid gives way.
 * @param mostDrops as many as there are places
 * @throws what `refusal` says
 */
export async function holdOrDrop<Holder>(place: Place<Holder>, mostDrops = 1): Promise<void> {
  for (let drops = 0; ; drops++) {
    const holder = await place.insertUnlessHeld();
    if (holder === null) return;
    if (drops >= mostDrops || !(await place.dropUnpaid(holder))) throw await place.refusal(holder);
  }
}
