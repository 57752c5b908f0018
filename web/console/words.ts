// The words of the console, in its language.
export { console as words } from '../../src/words/en/console.ts'
