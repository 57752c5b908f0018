// Questions at a terminal: what is typed, pasted, hidden, or ends in the middle.
import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { createQuestions } from './questions.ts'

function opened(isTty = true) {
  const input = new PassThrough()
  const output = new PassThrough()
  let shown = ''
  output.setEncoding('utf8').on('data', (chunk: string) => {
    shown += chunk
  })
  return { input, ask: createQuestions({ input, output, isTty }), shown: () => shown }
}

it('lines that are pasted at once answer one question each, a line that is only begun with what follows', async () => {
  const { input, ask } = opened()
  const first = ask('name? ')
  input.write('one\ntwo\r\nthr')
  expect(await first).toBe('one')
  expect(await ask('and? ')).toBe('two')
  const third = ask('last? ')
  input.write('ee\n')
  expect(await third).toBe('three')
  const none = ask('more? ')
  input.end()
  expect(await none).toBeNull()
})

it('lines of a pipe answer one question each', async () => {
  const { input, ask } = opened(false)
  input.write('one\ntwo\n')
  expect([await ask('name? '), await ask('and? ')]).toEqual(['one', 'two'])
})

it('a hidden answer is not shown', async () => {
  const { input, ask, shown } = opened()
  const secret = ask('token? ', { hidden: true })
  input.write('planted-secret\n')
  expect(await secret).toBe('planted-secret')
  expect(shown()).toContain('token? ')
  expect(shown()).not.toContain('planted')
})

it('[I18.wizard-hidden] the terminal echoes nothing any more when a hidden question is shown: a quick answer is not seen either', async () => {
  const modes: boolean[] = []
  let raw = false
  const input = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (on: boolean) => {
      raw = on
    },
  })
  const output = new PassThrough()
  const write = output.write.bind(output)
  Object.assign(output, {
    write: (text: string) => {
      if (text.includes('token? ')) modes.push(raw)
      return write(text)
    },
  })
  const secret = createQuestions({ input, output, isTty: true })('token? ', { hidden: true })
  input.write('planted-secret\n')
  expect(await secret).toBe('planted-secret')
  expect(modes).toEqual([true])
  expect(raw).toBe(false)
})
