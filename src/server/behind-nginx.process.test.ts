// A real nginx in front, with the shortest working configuration: its requests do not count as local.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { until } from '../../test/faults/until.ts'
import { type Opened, openServer, talk } from './fixtures/open-server.ts'

let open: Opened | null = null
let nginx: ChildProcess | null = null
let folder = ''
afterEach(async () => {
  nginx?.kill('SIGTERM')
  await open?.server.close({ graceMs: 100 })
  rmSync(folder, { recursive: true, force: true })
})

it('[I35.b39] nginx with a bare proxy_pass makes nobody local', async (context) => {
  if (spawnSync('nginx', ['-v']).error !== undefined)
    context.skip('needs nginx (apt-get install nginx-light)')
  open = await openServer({ settings: () => ({ maxBodyBytes: 1_000, publicUrl: null }) })
  folder = mkdtempSync(join(tmpdir(), 'sb-nginx-'))
  const socket = join(folder, 'in.sock')
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; worker_processes 1;
     events { worker_connections 64; }
     http {
       access_log off;
       client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f;
       uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
       server { listen unix:${socket}; location / { proxy_pass http://127.0.0.1:${open.port}; } }
     }`,
  )
  nginx = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' })
  const ask = (path: string) =>
    talk({ path: socket }, `GET ${path} HTTP/1.1\r\nHost: sb.example.com\r\nConnection: close\r\n\r\n`)
  let answer = ''
  await until('nginx passes a request on', async () => {
    answer = await ask('/hooks/demo')
    return answer !== ''
  })
  expect(answer).toContain('"near":false')
  expect((await ask('/metrics')).slice(9, 12)).toBe('401')
  // A direct request from this machine is local.
  const own = `GET /hooks/demo HTTP/1.1\r\nHost: 127.0.0.1:${open.port}\r\nConnection: close\r\n\r\n`
  expect(await open.raw(own)).toContain('"near":true')
})
