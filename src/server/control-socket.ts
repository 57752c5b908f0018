// The local control socket. Only the file's owner may open it, so it needs no token.
import { chmod, lstat, mkdir, unlink } from 'node:fs/promises'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { SwitchboardError } from '../contract/index.ts'

/** The most bytes that fit into `sockaddr_un` on Linux and macOS, without the closing NUL. */
const MAX_PATH_BYTES = 103

/** Listens on `path` with mode 0600. Removes a stale socket. Throws `data_folder_held` for a live one. */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw new SwitchboardError(
      'config_invalid',
      `the path of the control socket is over ${MAX_PATH_BYTES} bytes`,
      {
        hint: 'choose a shorter data folder (--data)',
      },
    )
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await removeStale(path)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    // listen() creates the file synchronously. With this umask no other user can ever open it.
    const before = process.umask(0o177)
    try {
      server.listen({ path }, () => {
        server.off('error', reject)
        resolve()
      })
    } finally {
      process.umask(before)
    }
  })
  await chmod(path, 0o600)
}

async function removeStale(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null)
  if (found === null) return
  if (!found.isSocket()) {
    throw new SwitchboardError(
      'config_invalid',
      `${path} is in the way of the control socket: it is not a socket`,
    )
  }
  if (await answers(path)) {
    throw new SwitchboardError('data_folder_held', `another daemon answers at ${path}`)
  }
  await unlink(path).catch(() => {})
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
