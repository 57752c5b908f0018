// A message with files, as Discord takes it: `payload_json`, then `files[n]`.
import { createHash } from 'node:crypto'

export interface Upload {
  readonly name: string
  readonly mime: string
  readonly bytes: Uint8Array
}

export function multipartOf(payload: object, files: readonly Upload[]) {
  const attachments = files.map(({ name }, id) => ({ id, filename: name }))
  const written = JSON.stringify({ ...payload, attachments })
  // Of what is in it: nobody can write something that contains its own digest.
  const digest = createHash('sha256').update(written)
  for (const { bytes } of files) digest.update(bytes)
  const boundary = `switchboard-${digest.digest('hex').slice(0, 32)}`
  const parts: Uint8Array[] = [
    head(boundary, 'form-data; name="payload_json"', 'application/json'),
    Buffer.from(written),
  ]
  for (const [at, { name, mime, bytes }] of files.entries()) {
    const filename = name.replace(/["\r\n\\]/g, '_')
    parts.push(
      head(boundary, `form-data; name="files[${at}]"; filename="${filename}"`, mime.replace(/[\r\n]/g, '')),
    )
    parts.push(bytes)
  }
  parts.push(Buffer.from(`\r\n--${boundary}--\r\n`))
  const [first = new Uint8Array(), ...rest] = parts
  const headers: Record<string, string> = { 'content-type': `multipart/form-data; boundary=${boundary}` }
  return { body: Buffer.concat([first.subarray(2), ...rest]) as Uint8Array, headers }
}

function head(boundary: string, disposition: string, type: string): Uint8Array {
  return Buffer.from(
    `\r\n--${boundary}\r\ncontent-disposition: ${disposition}\r\ncontent-type: ${type}\r\n\r\n`,
  )
}
