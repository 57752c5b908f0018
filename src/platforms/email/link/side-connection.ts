// A second connection beside the link, for occasional requests: attachments, history, the folder Sent. It runs one task
// at a time, is opened when needed, and is closed when idle.
import type { ImapFlow } from 'imapflow'
import { type Cancel, type Clock, createSerial, SwitchboardError } from '../../../contract/index.ts'
import { answered, imapError } from './imap-client.ts'

export interface SideConnection {
  /** Runs a task with a folder open. Throws `platform_unavailable`. Null: there is no such folder. */
  within<T>(folder: string, task: (client: ImapFlow) => Promise<T>): Promise<T | null>
  /** Runs a task without a folder. */
  use<T>(task: (client: ImapFlow) => Promise<T>): Promise<T>
  close(): void
}

export function createSideConnection(deps: {
  readonly connect: () => Promise<ImapFlow>
  readonly clock: Clock
  readonly commandMs: number
  readonly idleMs: number
}): SideConnection {
  const inOrder = createSerial()
  let open: ImapFlow | null = null
  let closing: Cancel = () => undefined
  let closed = false

  const shut = () => {
    open?.close()
    open = null
  }

  const use = <T>(task: (client: ImapFlow) => Promise<T>): Promise<T> =>
    inOrder(async () => {
      if (closed) throw new SwitchboardError('platform_unavailable', 'IMAP: the integration is stopped')
      closing()
      if (open?.usable !== true) {
        shut()
        open = await deps.connect()
      }
      try {
        return await task(open)
      } catch (thrown) {
        // The state of the connection is unknown.
        shut()
        throw imapError(thrown)
      } finally {
        closing = deps.clock.after(deps.idleMs, shut)
      }
    })

  return {
    use,
    within: (folder, task) =>
      use(async (client) => {
        if (!(await answered(client, isThere(client, folder), deps.commandMs, deps.clock))) return null
        await answered(client, client.mailboxOpen(folder), deps.commandMs, deps.clock)
        return task(client)
      }),
    close() {
      closed = true
      closing()
      shut()
    },
  }
}

/** Believes only the server's own answer: imapflow also answers `false` when the connection broke. */
async function isThere(client: ImapFlow, folder: string): Promise<boolean> {
  const status = await client.status(folder, { uidNext: true }).catch((thrown: unknown) => {
    if ((thrown as { readonly code?: unknown }).code === 'NotFound') return null
    throw thrown
  })
  if (status !== null && typeof status !== 'object')
    throw new SwitchboardError('platform_unavailable', `IMAP: nothing was heard of the folder "${folder}"`)
  return status !== null
}
