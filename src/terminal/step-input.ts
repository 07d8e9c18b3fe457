import { useEffect, useState } from '@inquirer/core';

/**
 * Keeps a question alive on its terminal. After Ctrl-Z and `fg` readline leaves its input paused, and the process would
 * end for want of work: the input is read again, and the question drawn again. Where the input ends (Ctrl-D, a terminal
 * that is gone), the question does.
 * @param ended called when no more can be typed
 */
export function useInput(ended: () => void): void {
  const [, setDrawn] = useState({});
  useEffect((readline) => {
    // Readline pauses in a listener of its own, which may come after this one.
    const goOn = () =>
      setImmediate(() => {
        readline.resume();
        setDrawn({});
      });
    readline.on('close', ended);
    process.on('SIGCONT', goOn);
    return () => {
      process.off('SIGCONT', goOn);
      readline.removeListener('close', ended);
    };
  }, []);
}
