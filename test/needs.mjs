/**
 * Says whether something that tests need beyond Node is on this machine; without it they are skipped. Where `CI` is set
 * that is a failure: the gate installs all of it (.ci/run), and a skipped test proves nothing.
 * @param {string} what
 * @param {boolean} isThere
 */
export function isHere(what, isThere) {
  if (!isThere && process.env.CI) throw new Error(`CI runs every test, and ${what} is missing on this machine.`);
  return isThere;
}
