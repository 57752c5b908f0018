// The words of the chat page, in its language.
export { chat as words } from '../../src/words/en/chat.ts'
