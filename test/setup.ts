import { restartWorldClock } from './clock.ts';

// Before each file of tests: files share a process, and each begins at the same moment of the world.
restartWorldClock();
