package refstack.node;

import java.io.IOException;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ErrorReportValve;
import org.springframework.http.HttpStatus;

/** Tomcat's own error answers as small JSON bodies; Tomcat's JSON valve adds stack traces. */
public class JsonErrorValve extends ErrorReportValve {

    @Override
    protected void report(Request request, Response response, Throwable failure) {
        int code = response.getStatus();
        if (code < 400 || response.getContentWritten() > 0 || !response.setErrorReported()) {
            return;
        }
        HttpStatus status = HttpStatus.resolve(code);
        String title = status == null ? "Error" : status.getReasonPhrase();
        try {
            response.setContentType("application/problem+json");
            response.setCharacterEncoding("UTF-8");
            response.getReporter().write("{\"status\":" + code + ",\"title\":\"" + title
                    + "\",\"detail\":\"The request was refused before it was read.\"}");
            response.finishResponse();
        } catch (IOException e) {
            // The client is gone; there is nobody left to tell.
            container.getLogger().debug("error answer not sent", e);
        }
    }
}
