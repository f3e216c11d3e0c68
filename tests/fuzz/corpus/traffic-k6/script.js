import http from 'k6/http';
import { check, sleep } from 'k6';

const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8080';
const HEADERS = { 'Content-Type': 'application/json', 'X-Client': `k6-${__VU}` };
export const options = { vus: 10, duration: '30s' };

// http.get('http://commented.test/')
export default function () {
  const res = http.get(`${BASE_URL}/products/mug-1`, { tags: { name: 'product' } });
  check(res, { 'found': (r) => r.status === 200 });
  const found = res.json('name');
  sleep(1.5);
  if (Math.random() < 0.5) {
    const made = http.post(`${BASE_URL}/orders`, JSON.stringify({ sku: found, quantity: 2 }), { headers: HEADERS });
    check(made, { 'made': (r) => r.status === 201 });
  }
  sleep(Math.random() * 3);
  http.get(nextUrl(res));
  http.batch([['GET', BASE_URL]]);
}
