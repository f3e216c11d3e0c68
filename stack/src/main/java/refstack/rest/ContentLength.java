package refstack.rest;

import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.ext.WriterInterceptor;
import jakarta.ws.rs.ext.WriterInterceptorContext;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Gives every body a Content-Length. Jersey does so by itself only up to 8 KB and would send the
 * list in chunks, which no other protocol of this stack does.
 */
class ContentLength implements WriterInterceptor {

    @Override
    public void aroundWriteTo(WriterInterceptorContext context) throws IOException {
        OutputStream client = context.getOutputStream();
        ByteArrayOutputStream body = new ByteArrayOutputStream(4096);
        context.setOutputStream(body);
        context.proceed();
        context.getHeaders().putSingle(HttpHeaders.CONTENT_LENGTH, body.size());
        body.writeTo(client);
        context.setOutputStream(client);
    }
}
