// The web chat as a platform: the page at /chat is received from over HTTP and sent to over an event stream. The outbox
// row is the message. Sending wakes the open windows, and a closed window finds it in its history. So a send is
// confirmed at once, and the same key twice shows one message.
import {
  defined,
  type PlatformAdapter,
  type PlatformIntake,
  SwitchboardError,
  WEB_OWNER,
} from '../../contract/index.ts'
import { type WebDeps, webConfig } from './config.ts'
import { createWebEndpoint } from './endpoint.ts'
import { createFileStore } from './files.ts'
import { wireState } from './render.ts'
import { createWindows } from './windows.ts'

export { mintChatPath } from './config.ts'

export function createWebPlatform(deps: WebDeps): PlatformAdapter {
  const config = webConfig(deps.integration, deps.publicUrl)
  const files = createFileStore({
    ...{ dir: deps.filesDir, random: deps.random, mirror: deps.mirror },
    now: () => deps.clock.now(),
  })
  const windows = createWindows(config, {
    clock: deps.clock,
    transcript: deps.transcript,
    ...defined({ agentHere: deps.agentHere }),
    onProblem: (thrown) =>
      deps.log.warn({ err: String(thrown) }, 'a chat window was closed: its history cannot be read'),
  })
  let intake: PlatformIntake | null = null

  return {
    abilities: {
      textLimit: { size: 16_000, unit: 'code-points' },
      // The page reads it, with the reader that everyone shares.
      markdown: 'written',
      edits: true,
      deletes: true,
      files: true,
      buttons: true,
      typing: true,
      showsAsk: true,
      idempotentSend: true,
      residents: [WEB_OWNER],
    },
    endpoint: createWebEndpoint(config, { deps, windows, files, intake: () => intake }),
    async start(given) {
      intake = given
    },
    async send({ to, op, key, seq }) {
      if (op.kind === 'react') {
        throw new SwitchboardError('platform_rejected', 'the web chat shows no reactions')
      }
      if (op.kind === 'file' && !(await files.has(op.ref))) {
        throw new SwitchboardError('platform_rejected', `the file "${op.name}" is not kept by the web chat`)
      }
      windows.wake(to.conversation, seq)
      return { platformIds: [key] }
    },
    files: {
      async keep({ name, mime, bytes }) {
        return (await files.save({ sender: '', name, mime, bytes })).ref
      },
      async download(attachment) {
        const file = await files.locate(attachment.ref)
        if (file === null) throw new SwitchboardError('not_found', 'the web chat does not keep this file')
        return file
      },
      forget: files.forget,
    },
    streaming: { by: 'signals' },
    signal(to, signal) {
      if (signal.kind === 'turn_state') {
        windows.tell(to.conversation, 'states', [
          { id: signal.messageId, ...wireState(signal.state, signal.reason ?? null) },
        ])
      } else if (signal.kind === 'typing') {
        windows.tell(to.conversation, 'typing', { on: signal.on })
      } else if (signal.kind === 'partial') {
        windows.tell(to.conversation, 'partial', { text: signal.text })
      } else {
        windows.tell(to.conversation, 'status', { text: signal.text })
      }
    },
    watchers: {
      heard: (conversation) => windows.wake(conversation),
      listening: () => windows.count() > 0,
    },
    link: {
      state: () =>
        intake === null
          ? { state: 'down', detail: 'not started' }
          : { state: 'up', detail: `${windows.count()} open window${windows.count() === 1 ? '' : 's'}` },
    },
    async stop() {
      intake = null
      windows.close()
    },
  }
}
