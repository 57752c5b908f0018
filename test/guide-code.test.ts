// The code of the guides, run as it stands: only its ports are others, and the channel server that it names is played.
import { createServer, type Server } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import * as chorus from '../src/chorus/index.ts'
import { createScriptedServers } from '../src/host/fixtures/scripted-servers.ts'
import { type ChannelHostOptions, createChannelHost } from '../src/host/index.ts'
import { freePort } from '../src/testing/free-port.ts'
import { until } from './faults/until.ts'
import { snippetsOf } from './page-snippets.ts'

type Modules = Readonly<Record<string, object>>

/** Runs a snippet whose imports come from `modules`; `given` are the names that a reader has of his own. */
async function runSnippet(text: string, modules: Modules, given: object = {}): Promise<void> {
  const code = text.replace(
    /^import \{ ([^}]+) \} from '([^']+)'$/gm,
    (_line, names, from) => `const { ${names} } = modules[${JSON.stringify(from)}]`,
  )
  expect(code).not.toContain('import {')
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor
  await AsyncFunction('modules', ...Object.keys(given), code)(modules, ...Object.values(given))
}

it('[I18.guide-snippets] the agent and the service of the chorus guide talk to each other', async () => {
  const [agent, service] = snippetsOf('docs/guide/chorus-library.md').filter(
    ({ language }) => language === 'ts',
  )
  const [first, second] = [await freePort(), await freePort()]
  const ported = (text = '') => text.replaceAll('8080', String(first)).replaceAll('8081', String(second))
  const opened: Server[] = []
  onTestFinished(() => {
    for (const server of opened) server.closeAllConnections()
    for (const server of opened) server.close()
  })
  const modules = {
    'switchboard/chorus': chorus,
    'node:http': {
      createServer(handler: Parameters<typeof createServer>[1]) {
        const server = createServer(handler as never)
        opened.push(server)
        return server
      },
    },
  }
  await runSnippet(ported(agent?.text), modules)
  await until('the agent listens', () => opened[0]?.listening)
  const room: string[] = []
  const postToRoom = async (id: string, text: string) => void room.push(`${id}: ${text}`)
  await runSnippet(ported(service?.text), modules, { postToRoom })
  await until('the answer is there', () => room.length > 0)
  expect(room).toEqual(['C04ABCDEF: You said: hello'])
})

it('[I18.guide-snippets] the host of its guide answers through the tool of the server', async () => {
  const [snippet] = snippetsOf('docs/guide/host.md').filter(({ language }) => language === 'ts')
  const pool = createScriptedServers('slack')
  const slack = pool.script.slack
  if (!slack) throw new Error('no script')
  slack.tools = ['chat.postMessage']
  slack.arguments = ['channel', 'text']
  const played = (options: ChannelHostOptions) => createChannelHost(options, { pool })
  const myAgent = async (_session: string, wrapped: string) => `read ${wrapped.split('\n')[1]}`
  await runSnippet(snippet?.text ?? '', { 'switchboard/host': { createChannelHost: played } }, { myAgent })
  slack.say('hello', { channel_id: 'C1', user: 'ann' })
  await until('it answered', () => slack.calls.length > 0)
  expect(slack.calls).toEqual([{ tool: 'chat.postMessage', input: { channel: 'C1', text: 'read hello' } }])
})
